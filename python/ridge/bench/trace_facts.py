"""What a trace and ridge's own analysis say of the launches that a script stands for: times, FLOPs, bytes, roof, and what ran beside them. In the parent.

A launch is told by its start: the cost of a launch (`kernels --by launch`) and its grid and block (`device_work`) are two tables of one event."""

import bisect
import collections
import json

COSTS = ("flops", "bytes_read", "bytes_written", "roof_ns", "expected_ns")


class Launches:
    def __init__(self, costs, work):
        """costs: rows of `kernels --by launch`; work: rows of `device_work`."""
        forms = {(row["start_ns"], row["stream"], row["name"]): row for row in work}
        self._groups = collections.defaultdict(list)
        for row in costs:
            form = forms.get((row["start_ns"], row["stream"], row["kernel"]), {})
            row["grid"], row["block"], row["shapes"] = _sizes(form.get("grid")), _sizes(form.get("block")), _tensors(_read(form.get("input_dims")))
            self._groups[row["kernel"]].append(row)
        self._busy = _busy_by_device(work)
        self.devices = []  # names of the trace's GPUs, as far as it tells them

    def of(self, call):
        """The launches of a script's call: of its kernel those with its grid, block, op and shapes, as far as the trace tells them: products of all sizes run with
        as many blocks as the device has multiprocessors."""
        rows = self._groups.get(call.get("kernel"), [])
        for key, value in (("op", call.get("op")), ("grid", call.get("grid")), ("block", call.get("block"))):
            if value is not None:
                narrowed = [row for row in rows if row[key] == (value if key == "op" else [int(each) for each in value])]
                rows = narrowed or rows
        wanted = _tensors(call.get("shapes"))
        return [row for row in rows if wanted and row["shapes"] == wanted] or rows

    def costs(self, call):
        """{flops, bytes_read, bytes_written, roof_ns, expected_ns} of one launch: the median of those that are known, else None."""
        rows = self.of(call)
        found = {}
        for name in COSTS:
            known = sorted(row[name] for row in rows if row[name] is not None)
            found[name] = known[(len(known) - 1) // 2] if known else None
        at_peak = sorted(each for each in map(_compute_ns, rows) if each is not None)
        found["compute_ns"] = at_peak[(len(at_peak) - 1) // 2] if at_peak else None
        return found

    def kernel_file(self, call):
        """Where the source of a generated kernel lay when it ran, as the trace tells it; None: it does not."""
        return next((row["kernel_file"] for row in self.of(call) if row.get("kernel_file")), None)

    def beside(self, call):
        """Of the time of these launches the share, in percent, in which other streams of the device worked too; None: no launch is known."""
        rows = self.of(call)
        total = sum(row["time_ns"] for row in rows)
        if total == 0:
            return None
        shared = sum(self._shared(row) for row in rows)
        return 100.0 * shared / total

    def _shared(self, row):
        starts, ends, streams = self._busy.get(row["device"], ([], [], []))
        begin, end = row["start_ns"], row["start_ns"] + row["time_ns"]
        spans = []
        # Work that began long before may still run; a kernel of a trace seldom outlasts 64 others.
        first = max(0, bisect.bisect_left(starts, begin) - 64)
        for i in range(first, bisect.bisect_right(starts, end)):
            if streams[i] != row["stream"] and ends[i] > begin:
                spans.append((max(begin, starts[i]), min(end, ends[i])))
        return _union(spans)


def _compute_ns(row):
    """What the arithmetic of a launch takes at the peak of its device; None: no FLOPs, no peak, or an algorithm that does not tell. Of what the kernel executes:
    a convolution by Winograd's multiplies less than its FLOPs say; where a mask may leave half of it out, that half."""
    if not row.get("flops") or not row.get("pct_peak_flops"):
        return None
    whole = row["time_ns"] * row["pct_peak_flops"] / 100
    causal = row.get("flops_causal")
    return whole * causal / row["flops"] if causal else whole


def _union(spans):
    total, until = 0, None
    for begin, end in sorted(spans):
        if until is None or begin > until:
            total, until = total + max(0, end - begin), end
        elif end > until:
            total, until = total + end - until, end
    return total


def _busy_by_device(work):
    devices = collections.defaultdict(list)
    for row in work:
        if row["start_ns"] is not None and row["dur_ns"] is not None:
            devices[row["device"]].append((row["start_ns"], row["start_ns"] + row["dur_ns"], row["stream"]))
    busy = {}
    for device, spans in devices.items():
        spans.sort(key=lambda each: each[:2])
        busy[device] = ([each[0] for each in spans], [each[1] for each in spans], [each[2] for each in spans])
    return busy


def _tensors(shapes):
    """Sizes of all tensors in one list, those of lists too; a number on the host and a tensor without dimensions look alike in a trace, and are left out."""
    found = []
    for each in shapes or ():
        if isinstance(each, list) and each:
            found += _tensors(each) if isinstance(each[0], list) else [each]
    return found


def _read(text):
    return None if text is None else json.loads(text)


def _sizes(text):
    return None if text is None else [int(each) for each in json.loads(text)]


def read(ridge, trace, flags=()):
    costs = ridge.tables("kernels", "--by", "launch", *flags, trace)["kernels"]
    query = (
        "select w.name, w.start_ns, w.dur_ns, w.device, w.stream, w.grid, w.block, o.input_dims from device_work w "
        "left join (select external_id, max(input_dims) as input_dims from ops group by external_id) o on o.external_id = w.external_id"
    )
    work = ridge.tables("sql", trace, query)["sql"]
    launches = Launches(costs, work)
    launches.devices = [row["name"] for row in ridge.tables("info", trace).get("devices", ()) if row.get("name")]
    return launches
