"""Assertions for test suites, over the gates of `ridge diff` and `ridge check`: the same limits, the same numbers.

    from ridge.testing import assert_no_regression

    def test_gpu_time():
        assert_no_regression("main.json.gz", "this_branch.json.gz", above="5%")

Each takes paths or open traces, and keywords of the analysis (`step=`, `gpu=`, `filter=`, ...); returns the report where it holds, and else raises an
AssertionError that shows what changed and the command that shows it again."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, Dict, List, Union

if TYPE_CHECKING:
    from . import Report, Table, Trace

    Traces = Union[str, "os.PathLike[str]", Trace]
    Limit = Union[str, float]

__all__ = ["assert_no_regression", "assert_no_slower_kernel", "assert_no_new_breaks", "assert_undamaged"]

_ROWS = 10  # of each table in a message


def assert_no_regression(before: Traces, after: Traces, above: Limit = "5%", **more: Any) -> Report:
    """GPU time per iteration has not grown by more than `above` (a text such as "5%", or a number of percent).

    significant=True: only where the 95 % interval of the change excludes zero."""
    __tracebackhide__ = True
    return _compared(before, after, {"fail_above": _percent(above)}, more, ("totals", "waterfall", "diff"))


def assert_no_slower_kernel(before: Traces, after: Traces, above: Limit = "10%", **more: Any) -> Report:
    """No group of kernels that both traces have takes longer by more than `above`, nor by more than min_ns (1000 unless given) per iteration.

    significant=True: only where the 95 % interval of the change excludes zero."""
    __tracebackhide__ = True
    return _compared(before, after, {"fail_kernel_above": _percent(above)}, more, ("gates", "diff"))


def assert_no_new_breaks(before: Traces, after: Traces, at_most: int = 0, **more: Any) -> Report:
    """torch.compile breaks its graphs in no more than `at_most` places where it did not before."""
    __tracebackhide__ = True
    return _compared(before, after, {"max_new_breaks": at_most}, more, ("breaks",))


def assert_undamaged(trace: Traces, **more: Any) -> Report:
    """The trace is whole: `ridge check --strict` finds no error in it."""
    __tracebackhide__ = True
    from . import GateError, open

    opened = trace if hasattr(trace, "check") else open(os.fspath(trace), progress=False)
    try:
        return opened.check(strict=True, **more)
    except GateError as failed:
        report = failed.report
        paths = list(opened.paths)
    raise AssertionError(_message("the trace is damaged", report, ("check",), "check", paths, {"strict": True, **more}))


def _percent(limit: Limit) -> str:
    return limit if isinstance(limit, str) else "%g%%" % limit


def _compared(before: Traces, after: Traces, gates: Dict[str, Any], more: Dict[str, Any], tables: tuple[str, ...]) -> Report:
    __tracebackhide__ = True
    from . import GateError, diff

    try:
        return diff(before, after, **gates, **more)
    except GateError as failed:
        report, why = failed.report, failed.message
    raise AssertionError(_message(why, report, tables, "diff", report.traces, {**gates, **more}))  # outside: without the engine's own exception above


def _message(why: str, report: Report, tables: tuple[str, ...], command: str, paths: List[str], keywords: Dict[str, Any]) -> str:
    parts = [why, *(_shown(report.tables[name]) for name in tables if name in report.tables and len(report.tables[name])), "again: " + _command(command, paths, keywords)]
    return "\n\n".join(part for part in parts if part)


def _shown(table: Table) -> str:
    from . import _native

    return str(_native.alone(table._table, len(table)).text("table", limit=_ROWS, fold=True, wide=False)).rstrip("\n")


def _command(command: str, paths: List[str], keywords: Dict[str, Any]) -> str:
    words = ["ridge", command, *paths]
    for keyword, value in keywords.items():
        if value is None or value is False:
            continue
        words.append("--" + keyword.rstrip("_").replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return shlex.join(words)
