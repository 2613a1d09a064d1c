"""`--save-device`: the peaks of this machine's GPU as a file for --device-file. In the parent."""

from . import answer, table_file

DEADLINE_S = 120


def save(bench, path):
    if not bench.has_gpu:
        bench.diagnostics.append(answer.diagnostic("no_gpu", "no GPU: no peaks were measured"))
        return
    told = bench.workers.ask("peaks", DEADLINE_S)
    if told["status"] != "ok":
        bench.diagnostics.append(answer.diagnostic("no_peaks", "the peaks were not measured: %s" % told.get("reason"), severity="error"))
        return
    table_file.write(path, {key: value for key, value in told["device"].items() if value is not None})
