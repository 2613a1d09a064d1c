"""`--save-device`: the peaks of this machine's GPU as a file for --device-file. In the parent."""

from . import table_file

DEADLINE_S = 120


def save(bench, path):
    if not bench.has_gpu:
        bench.failed.append("no GPU: no peaks were measured, %s is not written" % path)
        return
    told = bench.workers.ask("peaks", DEADLINE_S)
    if told["status"] != "ok":
        bench.failed.append("the peaks were not measured: %s; %s is not written" % (told.get("reason"), path))
        return
    table_file.write(path, {key: value for key, value in told["device"].items() if value is not None})
