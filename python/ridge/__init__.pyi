# Made by tools/make_stubs from the catalog and the schema: edit python/stub.txt instead.
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import pandas
import polars
import pyarrow

from . import recording as recording
from .recording import profile as profile
from . import testing as testing

_StrPath: TypeAlias = str | os.PathLike[str]
_Steps: TypeAlias = int | str | tuple[int, int] | list[int] | range
_Value: TypeAlias = str | int | float | bool | None
_Progress: TypeAlias = Callable[[str, int, int], object]

__version__: str
__all__: list[str]

class Error(Exception):
    """A question that could not be answered."""

    message: str
    code: str
    where: str
    hint: str
    def __init__(self, message: str, code: str = "usage", where: str = "", hint: str = "") -> None: ...

class UsageError(Error, TypeError):
    """The call itself is wrong: an unknown keyword, column, format or device."""

class ReadError(Error):
    """The trace cannot be read: it is missing, no trace, or over a limit."""

class GateError(Error, AssertionError):
    """A limit that was asked for is exceeded."""

    report: Report

class Column(NamedTuple):
    """A column: its name, type (text, integer, number, boolean), unit ('ns', 'bytes', ..., or '') and role."""

    name: str
    type: str
    unit: str
    role: str

class _Rows:
    @property
    def schema(self) -> list[Column]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def total(self) -> dict[str, _Value] | None: ...
    @property
    def parent(self) -> str | None: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[dict[str, _Value]]: ...
    def rows(self) -> list[tuple[_Value, ...]]: ...
    def to_dicts(self) -> list[dict[str, _Value]]: ...
    @overload
    def __getitem__(self, key: str) -> list[_Value]: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, _Value]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, _Value]]: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_pandas(self, categories: bool = False) -> pandas.DataFrame: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Table(_Rows):
    """One table of a report, or one of a trace's own."""

    def __init__(self, table: Any) -> None: ...
    @property
    def name(self) -> str: ...
    def text(self, format: str = "table", *, sort: str = "", limit: int | None = None, wide: bool = False) -> str: ...

class TraceTable(_Rows):
    """One table of a trace. Nothing of it is made before it is asked for; then it is kept."""

    name: str
    def __init__(self, native: Any, info: dict[str, Any]) -> None: ...
    def select(self, *columns: str, first: int = 0, count: int | None = None) -> Table: ...

class ReportTables(dict[str, Table]):
    """The tables of a report by name, as keys and as attributes."""

    def __getattr__(self, name: str) -> Table: ...

class Report(_Rows):
    """What an analysis answers: tables, curves, diagnostics. Used as a table, it is its first one."""

    tables: ReportTables
    def __init__(self, report: Any) -> None: ...
    @property
    def command(self) -> str: ...
    @property
    def traces(self) -> list[str]: ...
    @property
    def series(self) -> dict[str, list[tuple[int, float]]]: ...
    @property
    def diagnostics(self) -> list[dict[str, Any]]: ...
    @property
    def headline(self) -> str: ...
    @property
    def next(self) -> str: ...
    @property
    def gate_failed(self) -> bool: ...
    def text(self, format: str = "table", *, sort: str = "", limit: int | None = None, wide: bool = False) -> str: ...
    def svg(self) -> str | None: ...

class TraceTables:
    """`t.tables`: the trace's own tables as attributes, each made when it is asked for."""

    def __init__(self, trace: Any, index: int) -> None: ...
    def __getitem__(self, name: str) -> TraceTable | Table: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: object) -> bool: ...
    def keys(self) -> list[str]: ...
    @property
    def trace(self) -> TraceTable:
        """The file: one row. Columns: path, container, format, file_bytes, json_bytes, elements, window_start_ns,
        window_ns, base_time_ns, schema_version, rank, world_size, backend, record_shapes, with_stack, with_modules,
        with_flops, profile_memory, trace_id, trace_name, host_name, display_time_unit."""

    @property
    def metadata(self) -> TraceTable:
        """What the profiler wrote around the events, but for what other tables have. Columns: key, value."""

    @property
    def devices(self) -> TraceTable:
        """A device that the profiler described. Columns: device, name, memory_bytes, multiprocessors, compute_major,
        compute_minor, warp_size, threads_per_multiprocessor, registers_per_multiprocessor,
        shared_memory_per_multiprocessor."""

    @property
    def diagnostics(self) -> TraceTable:
        """What was wrong with the file, by reason. Columns: problem, severity, count, first_offset, message."""

    @property
    def tracks(self) -> TraceTable:
        """A thread of a process or a stream of a device: a pair of `pid` and `tid`. Columns: track, pid, pid_text, tid,
        tid_text, thread_name, process_name, process_labels, thread_sort_index, process_sort_index."""

    @property
    def kinds(self) -> TraceTable:
        """A pair of phase and category that events have. Columns: ph, cat, class."""

    @property
    def events(self) -> TraceTable:
        """An event, in the file's order: the row is the event's number. Those of every class are here. Columns: event,
        name, cat, track, start_ns, ts_ns, dur_ns, ph, class."""

    @property
    def device_work(self) -> TraceTable:
        """A kernel, copy or set on a device. Columns: event, name, cat, track, start_ns, ts_ns, dur_ns, work,
        external_id, correlation, device, context, stream, queued, grid, block, registers_per_thread, shared_memory,
        blocks_per_sm, warps_per_sm, occupancy_pct, bytes, bandwidth_gb_per_s, graph_id, graph_node_id."""

    @property
    def launches(self) -> TraceTable:
        """A call of a runtime or driver, whether it launches work or not. Columns: event, name, cat, track, start_ns,
        ts_ns, dur_ns, external_id, correlation, cbid, kernel, grid, block, bytes, stream."""

    @property
    def ops(self) -> TraceTable:
        """A call of an op: ATen, autograd, compiled regions, launches of Triton kernels. Columns: event, name, cat,
        track, start_ns, ts_ns, dur_ns, external_id, sequence_number, fwd_thread_id, record_function_id, input_dims,
        input_type, input_strides, concrete_inputs, kernel_file, kernel_hash, kernel_backend, kernel_kwargs,
        kernel_name, kernel_flop, kernel_num_gb, num_warps, num_stages."""

    @property
    def collectives(self) -> TraceTable:
        """An op or a kernel of a collective, with what it was called with. Columns: event, name, cat, track, start_ns,
        ts_ns, dur_ns, collective, dtype, in_elements, out_elements, group_size, group_name, group_description,
        group_ranks, rank, sequence, source_rank, destination_rank."""

    @property
    def annotations(self) -> TraceTable:
        """A range that the program named: record_function, ProfilerStep#, phases of the compiler. Columns: event, name,
        cat, track, start_ns, ts_ns, dur_ns."""

    @property
    def gpu_annotations(self) -> TraceTable:
        """Such a range as it shows on a stream; no work of its own. Columns: event, name, cat, track, start_ns, ts_ns,
        dur_ns."""

    @property
    def python_frames(self) -> TraceTable:
        """A call of a Python function (`with_stack=True`). Columns: event, name, cat, track, start_ns, ts_ns, dur_ns,
        id, parent_id, module_id, call_from."""

    @property
    def memory_events(self) -> TraceTable:
        """An allocation or a release (`profile_memory=True`). Columns: event, name, cat, track, start_ns, ts_ns, dur_ns,
        addr, bytes, total_allocated, total_reserved, device_type, device_id."""

    @property
    def flows(self) -> TraceTable:
        """An end of an arrow between two events. Columns: event, name, cat, track, start_ns, ts_ns, dur_ns, ph, id."""

    @property
    def syncs(self) -> TraceTable:
        """A wait that was recorded on a device. Columns: event, name, cat, track, start_ns, ts_ns, dur_ns,
        cuda_sync_kind, correlation, device, stream, wait_on_stream, wait_on_cuda_event_record_corr_id,
        wait_on_cuda_event_id."""

    @property
    def overheads(self) -> TraceTable:
        """What the profiler itself took. Columns: event, name, cat, track, start_ns, ts_ns, dur_ns."""

    @property
    def spans(self) -> TraceTable:
        """The span of the recording. Columns: event, name, cat, track, start_ns, ts_ns, dur_ns."""

    @property
    def marks(self) -> TraceTable:
        """An instant. Columns: event, name, cat, track, start_ns, ts_ns, dur_ns."""

    @property
    def metadata_events(self) -> TraceTable:
        """An event that names a process or a thread (`ph` M). Columns: event, name, cat, track, start_ns, ts_ns, dur_ns."""

    @property
    def other_events(self) -> TraceTable:
        """An event of no class above. Columns: event, name, cat, track, start_ns, ts_ns, dur_ns."""

    @property
    def counters(self) -> TraceTable:
        """A value of a counter (`ph` C): one row for each argument of each event. Columns: event, name, series, track,
        start_ns, ts_ns, value."""

    @property
    def args(self) -> TraceTable:
        """An argument of an event: one row for each, of all events, those that other tables have columns of too.
        Columns: event, key, member, type, integer, number, boolean, text."""

    @property
    def kernel_launches(self) -> Table:
        """A launch of a kernel, with its op, FLOPs and bytes: `t.kernels(by="launch")`."""

class Timeline:
    """The viewer in a frame of a notebook."""

    def __init__(self, trace: Any, height: int) -> None: ...

class Server:
    """The viewer, served from the traces that are open."""

    url: str
    def __init__(self, native: Any) -> None: ...
    def stop(self) -> None: ...
    def wait(self) -> None: ...
    def __enter__(self) -> Server: ...
    def __exit__(self, *_: object) -> None: ...

class _Questions:
    def step(self, first: _Steps, last: int | None = None) -> Scope:
        """Only iteration `first`, or `first` to `last`: the number in ProfilerStep#, else the index from 0."""

    def on(self, *, gpu: int) -> Scope:
        """Only this device of the trace."""

    def between(
        self,
        first: float | None = None,
        last: float | None = None,
        *,
        ms: tuple[float | None, float | None] | None = None,
        us: tuple[float | None, float | None] | None = None,
        ns: tuple[float | None, float | None] | None = None,
    ) -> Scope:
        """Only what starts within this time from the window's start: `between(ms=(3, 9))`, or two numbers in ms."""

    def matching(self, expression: str) -> Scope:
        """Only names that match this regular expression."""

    def using(self, **settings: Any) -> Scope:
        """With other peaks or settings for all that follows: `using(device="h100", clock_mhz=1755)`."""

    def report(self, path: _StrPath) -> str:
        """Writes the viewer and its data into one HTML file, to send or to keep."""

    def serve(self, *, port: int = 0, host: str = "127.0.0.1", open: bool = False, wait: bool | None = None) -> Server:
        """Serves the viewer at a local URL."""

    def bench(self, **flags: _Value) -> Report:
        """Runs the trace's longest calls alone on this machine's GPU and times them: `t.bench(top=5, configs=True)`."""

    def timeline(self, height: int = 700) -> Timeline:
        """The viewer, inside the notebook and without a server."""

    def summary(
        self,
        *,
        step_time: float | None = None,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        expected_file: _StrPath | None = None,
        table: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Read this first: where the time went, and what the trace lacks.

        step_time: what a step takes without the profiler, in ms, as you measured it
        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        expected_file: op times of your own device (ridge predict --calibrate prints the script that records them)
        table: kernel times that ridge bench --save measured: they come before what is expected
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def findings(
        self,
        *,
        step_time: float | None = None,
        ignore: str | Iterable[str] | None = None,
        all: bool | None = None,
        claim: str | None = None,
        by_sql: str | Iterable[str] | None = None,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        expected_file: _StrPath | None = None,
        table: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """What to fix first: causes, the most that each can save, what to do.

        step_time: what a step takes without the profiler, in ms, as you measured it
        ignore: ids of findings to hide, separated by commas; repeatable
        all: also list every cause that is looked for, found or not
        claim: list the time that this finding claims too, piece by piece, and by iteration
        by_sql: a query of yours whose rows mean failure: listed, and exit 3; repeatable
        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        expected_file: op times of your own device (ridge predict --calibrate prints the script that records them)
        table: kernel times that ridge bench --save measured: they come before what is expected
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def info(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """What is in the trace: device, profiler options, categories, iterations, tracks.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def check(
        self,
        *,
        strict: bool | None = None,
        by_sql: str | Iterable[str] | None = None,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """What is wrong with the file, and which metrics are implausible.

        strict: exit with 3 if there is a problem of severity error
        by_sql: a query of yours whose rows mean failure: listed, and exit 3; repeatable
        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def gpu(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """How busy each device was, and why it was idle.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def gaps(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """The longest idle gaps of each device: cause, and what ended them.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def launches(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Launch overhead and queue depth; is the program launch-bound.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def kernels(
        self,
        *,
        by: str | None = None,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        expected_file: _StrPath | None = None,
        table: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Where kernel time went, and how close to the roof each kernel is.

        by: group by launch, op, shape, annotation, module, graph, stream or stage (prefill, decode)
        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        expected_file: op times of your own device (ridge predict --calibrate prints the script that records them)
        table: kernel times that ridge bench --save measured: they come before what is expected
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def kernel(
        self,
        name: str | None = None,
        *,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        expected_file: _StrPath | None = None,
        table: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """One kernel in depth: times, grids, ops, shapes, stacks, source.

        name: the kernel: its name or label, a unique part of one, or a regular expression
        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        expected_file: op times of your own device (ridge predict --calibrate prints the script that records them)
        table: kernel times that ridge bench --save measured: they come before what is expected
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def roofline(
        self,
        *,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Each kernel against its device's roof; MFU and bandwidth per iteration.

        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def categories(
        self,
        *,
        by: str | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Device time by kind of work: Triton, GEMM, convolution, ....

        by: group by annotation, module, graph, stream or stage (prefill, decode)
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def predict(
        self,
        *,
        ops: _StrPath | None = None,
        calibrate: bool | None = None,
        features: bool | None = None,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        expected_file: _StrPath | None = None,
        table: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """What each op call should take on a device, with an interval.

        ops: JSON lines, one op call each, instead of a trace
        calibrate: print the script that records op times on your own device
        features: also list what the table is asked by
        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        expected_file: op times of your own device (ridge predict --calibrate prints the script that records them)
        table: kernel times that ridge bench --save measured: they come before what is expected
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def replay(
        self,
        *,
        kernel: str | None = None,
        op: str | None = None,
        shape: str | None = None,
        all: bool | None = None,
        top: int | None = None,
        source: _StrPath | None = None,
        trust_source: bool | None = None,
        inductor_cache: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """A script that runs one call of the trace alone: its inputs, its kernel.

        kernel: the call that launched this kernel: its name, a unique part of it, or a regular expression
        op: the call of this op: aten::mm, or mm
        shape: of several calls the one with these shapes: 4096x4096,4096x512 (or the first of them)
        all: a script for every call; -o names a folder, which gets an index.json too
        top: the same for the N calls with most time
        source: file with the source of the Triton kernel, or the module that Inductor generated
        trust_source: take the source whole, whatever else it does: it is run by the script
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def copies(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Memcpy and memset by direction: bytes, time, bandwidth.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def collectives(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Communication: bytes, time, how much of it was exposed.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def ops(
        self,
        *,
        by: str | None = None,
        inductor_cache: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """What each op cost on the host and on the device.

        by: group by shape, module, location, annotation, phase (forward, ..) or stage (prefill, decode)
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def graphs(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Each compiled graph; device time inside and outside compiled code.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def breaks(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Graph breaks: where, why and what they cost; recompiles.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def compile(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Time spent compiling, as a tree of phases, and autotuning.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def autotune(
        self,
        *,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        inductor_cache: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Configurations that were tried, the time of each, which one ran, and what it cost.

        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def critical(
        self,
        *,
        by: str | None = None,
        without_profiler: bool | None = None,
        step_time: float | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """The critical path: what the length of a step is made of.

        by: name pieces by op or location (of the user's code); without it by kernel, call and op
        without_profiler: of the step as it would be without the profiler
        step_time: what a step takes without the profiler, in ms, as you measured it
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def whatif(
        self,
        *,
        step_time: float | None = None,
        do: str | Iterable[str] | None = None,
        recorded: bool | None = None,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        expected_file: _StrPath | None = None,
        table: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """How long a step takes without the profiler, and after changes.

        step_time: what a step takes without the profiler, in ms, as you measured it
        do: a change: kernel:REGEX=0.5x, op:REGEX=+50us, host=0.8x, no-sync, cuda-graphs, ...; repeatable
        recorded: changes start from the step as recorded, not from that without the profiler
        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        expected_file: op times of your own device (ridge predict --calibrate prints the script that records them)
        table: kernel times that ridge bench --save measured: they come before what is expected
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def memory(
        self,
        *,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Memory by op and over time; what held it at the peak.

        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def sql(
        self,
        query: str | None = None,
        *,
        query_file: _StrPath | None = None,
        tables: bool | None = None,
        gate: bool | None = None,
        max_seconds: float | None = None,
        max_memory: int | None = None,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        expected_file: _StrPath | None = None,
        table: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        from_: float | None = None,
        to: float | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """Ask in SQL: the trace's tables, Perfetto's, and every analysis.

        query: the query: one SELECT, in SQLite's dialect
        query_file: file with the query, - for standard input
        tables: list all tables and their columns instead
        gate: exit with 3 if the query gives a row
        max_seconds: give up a query after this time (default 60)
        max_memory: most bytes that a query may take (default 1073741824)
        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        expected_file: op times of your own device (ridge predict --calibrate prints the script that records them)
        table: kernel times that ridge bench --save measured: they come before what is expected
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        from_: only what starts at or after this time, in ms from the window's start
        to: only what starts before this time, in ms from the window's start
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def diff(
        self,
        *,
        fail_above: str | None = None,
        fail_kernel_above: str | None = None,
        max_new_breaks: int | None = None,
        significant: bool | None = None,
        min_ns: float | None = None,
        min_pct: str | None = None,
        from_: float | None = None,
        to: float | None = None,
        device: str | None = None,
        device_file: _StrPath | None = None,
        clock_mhz: float | None = None,
        dtype: str | None = None,
        tf32: bool | None = None,
        inductor_cache: _StrPath | None = None,
        gpu: int | None = None,
        step: _Steps | None = None,
        filter: str | None = None,
        runs: int | None = None,
    ) -> Report:
        """What changed between two or more traces, call by call.

        fail_above: exit with 3 if GPU time per iteration grew by more than this, e.g. 5%
        fail_kernel_above: exit with 3 if a matched group grew by more than this and by more than --min-ns, e.g. 10%
        max_new_breaks: exit with 3 if there are more new graph breaks than this
        significant: gates count only changes whose 95 % interval excludes zero
        min_ns: smallest change in ns per iteration that counts (default 1000)
        min_pct: smallest change in percent that counts as changed (default 5%)
        from_: only whole iterations from this time on, in ms from the window's start; if there is none, all work from then on
        to: only whole iterations that end by this time, in ms from the window's start; if there is none, all work that starts before
        device: device whose peaks to use; ridge devices lists them
        device_file: JSON file with the peaks of your own device, or with measured peaks
        clock_mhz: clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)
        dtype: dtype to assume where the trace does not say: bf16, float32, ...
        tf32: float32 matmuls and convolutions ran in TF32
        inductor_cache: folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)
        gpu: only this device of the trace
        step: only iteration A, or A-B: the number in ProfilerStep#, else the index from 0
        filter: only names that match this regular expression
        runs: number of iterations in the trace, if it cannot be detected
        """

    def ranks(
        self,
        *,
        digest: _StrPath | None = None,
        before: _StrPath | None = None,
        findings: bool | None = None,
        network_gbps: float | None = None,
    ) -> Report:
        """The ranks of a job: which one is late, why, and what it costs.

        digest: write what this needs of each trace to a file, or to a folder, instead of answering
        before: folder or digests of the job as it was: tells what changed since
        findings: also the findings of each rank, and which ranks each holds for
        network_gbps: Gbit/s of each GPU's network port: what bus bandwidth between nodes is a share of
        """

    def arrivals(
        self,
        *,
        rank: int | None = None,
        at: int | None = None,
    ) -> Report:
        """The collectives of a job one by one: when each rank arrived, and how long it waited.

        rank: only collectives that this rank takes part in
        at: with --rank: only the one that it began then, in ns from the start of its first step
        """

class Trace(_Questions):
    """One or more open traces. Made by `ridge.open`; safe to use from several threads at once."""

    paths: tuple[str, ...]
    def __init__(self, engine: Any, paths: Iterable[str], named_files_only: bool = False) -> None: ...
    @property
    def tables(self) -> TraceTables: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> OneOf: ...
    @overload
    def __getitem__(self, index: slice) -> list[OneOf]: ...
    def __iter__(self) -> Iterator[OneOf]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Trace: ...
    def __exit__(self, *_: object) -> None: ...

class FailedTrace(NamedTuple):
    """A trace that could not be read, and why."""

    place: str
    why: str

class Job(Trace):
    """The ranks of a job, as digests. `ranks()` says which are slow, why, and what it costs."""

    failed: tuple[FailedTrace, ...]
    def __init__(self, engine: Any, paths: Iterable[str], failed: Iterable[FailedTrace], kept: Any) -> None: ...
    @property
    def digests(self) -> str: ...
    def to_parquet(self, folder: _StrPath) -> list[str]: ...

class Folder(Trace):
    """The traces of a folder, read when they are asked about."""

    def __init__(self, read: Callable[..., Any], paths: Iterable[str], named_files_only: bool = False) -> None: ...

class Scope(_Questions):
    """A part of a trace: steps, a device, a stretch of time."""

    def __init__(self, of: Any, scope: dict[str, Any]) -> None: ...
    @property
    def paths(self) -> tuple[str, ...]: ...

class OneOf(Scope):
    """One of several open traces."""

    def __init__(self, of: Trace, index: int) -> None: ...
    @property
    def tables(self) -> TraceTables: ...

def open(
    path: _StrPath | Iterable[_StrPath],
    *more: _StrPath | Iterable[_StrPath],
    threads: int = 0,
    max_bytes: int = 0,
    cache_bytes: int = 0,
    capture: _StrPath | Iterable[_StrPath] | None = None,
    named_files_only: bool = False,
    progress: _Progress | Literal[False] | None = None,
) -> Trace:
    """Reads a trace, several, or a folder of them."""

def job(
    path: _StrPath | Iterable[_StrPath],
    *more: _StrPath | Iterable[_StrPath],
    on: Literal["threads", "ray"] = "threads",
    digests: _StrPath | None = None,
    threads: int = 0,
    max_bytes: int = 0,
    storage: Literal["obstore", "fsspec"] | None = None,
    storage_options: dict[str, Any] | None = None,
    address: str | None = None,
    retries: int = 3,
    progress: _Progress | Literal[False] | None = None,
) -> Job:
    """Reads the traces of a job's ranks and gives a `Job`, which answers `ranks()`."""

def diff(
    before: _StrPath | Trace | OneOf, after: _StrPath | Trace | OneOf, *more: _StrPath | Trace | OneOf, **given: Any
) -> Report:
    """What changed between two or more traces, call by call."""

def devices(**given: Any) -> Report:
    """Known devices: their peaks, and the source of each figure."""

def predict(**given: Any) -> Report:
    """What each op call should take on a device."""

def analyses() -> list[dict[str, Any]]:
    """The catalog: name, description and parameters of every analysis."""

def export(
    trace: _StrPath | Trace,
    output: _StrPath,
    *,
    tables: Iterable[str] | None = None,
    format: Literal["arrow", "parquet"] | None = None,
    force: bool = False,
    progress: _Progress | Literal[False] | None = None,
) -> list[str]:
    """Writes a trace's tables as Arrow IPC files, or as Parquet."""
