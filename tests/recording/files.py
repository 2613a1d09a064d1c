"""Files of traces: whole or absent, never over another one."""

import gzip
import os
import sys
import threading

from stage import PACKAGE, check, equal

sys.path.insert(0, PACKAGE)

from recording import trace_file  # noqa: E402
from recording.console import printable  # noqa: E402
from recording.ranks import Rank, this_process  # noqa: E402

JSON = '{"traceEvents": [' + ", ".join(['{"name": "op"}'] * 5000) + "]}\n"


def saves(text):
    def save(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    return save


def not_written(*arguments):
    try:
        trace_file.write(*arguments)
    except trace_file.NotWritten as error:
        return str(error)
    check(False, "a trace was written")


def test_a_trace_is_compressed_and_read_back(at):
    path = trace_file.write(saves(JSON), at.at("new", "folder"), None)
    equal(path, at.at("new", "folder", "trace.json.gz"), "path")
    with gzip.open(path, "rt") as file:
        equal(file.read(), JSON, "content")
    equal(at.names("new/folder"), ["trace.json.gz"], "files")


def test_ranks_and_files_have_names(at):
    rank = Rank(3, 8)
    equal(os.path.basename(trace_file.write(saves(JSON), at.at("t"), rank)), "rank3.json.gz", "a rank in a folder")
    equal(os.path.basename(trace_file.write(saves(JSON), at.at("run.json.gz"), rank)), "run.rank3.json.gz", "a rank beside a file")
    equal(os.path.basename(trace_file.write(saves(JSON), at.at("run.json.gz"), None)), "run.json.gz", "a file")


def test_nothing_is_overwritten(at):
    first = trace_file.write(saves('{"first": 1}'), at.at("t"), None)
    second = trace_file.write(saves('{"second": 1}'), at.at("t"), None)
    equal(os.path.basename(second), "trace.2.json.gz", "the second")
    with gzip.open(first, "rt") as file:
        equal(file.read(), '{"first": 1}', "the first")


def test_many_writers_at_once_take_a_name_each(at):
    threads = [threading.Thread(target=trace_file.write, args=(saves('{"writer": %d}' % i), at.at("t"), None)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = set()
    for name in at.names("t"):
        with gzip.open(at.at("t", name), "rt") as file:
            found.add(file.read())
    equal(len(found), 12, "different traces")
    equal(len(at.names("t")), 12, "files")


def test_a_file_system_without_links_will_do(at):
    link = os.link

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    os.link = refuse
    try:
        equal(os.path.basename(trace_file.write(saves(JSON), at.at("t"), None)), "trace.json.gz", "the first")
        equal(os.path.basename(trace_file.write(saves(JSON), at.at("t"), None)), "trace.2.json.gz", "the second")
    finally:
        os.link = link


def test_a_part_of_a_trace_is_no_trace(at):
    check("a part" in not_written(saves(JSON[:-20]), at.at("t"), None), "it is not said that the JSON is cut")
    check("a part" in not_written(saves(""), at.at("t"), None), "it is not said that the JSON is empty")
    equal(at.names("t"), [], "left behind")


def test_a_profiler_that_fails_leaves_nothing(at):
    def save(path):
        saves(JSON)(path)
        raise RuntimeError("cannot export")

    check("cannot export" in not_written(save, at.at("t"), None), "the reason is not said")
    equal(at.names("t"), [], "left behind")


def test_a_folder_that_is_a_file_is_said(at):
    at.write("t", "in the way")
    check(at.at("t") in not_written(saves(JSON), at.at("t"), None), "the path is not said")


def test_the_rank_comes_from_launchers(_):
    equal(this_process({"RANK": "1", "WORLD_SIZE": "4"}), Rank(1, 4), "torchrun")
    equal(this_process({"SLURM_PROCID": "2", "SLURM_NTASKS": "3"}), Rank(2, 3), "Slurm")
    equal(this_process({"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "6"}), Rank(5, 6), "Open MPI")
    equal(this_process({"RANK": "0", "WORLD_SIZE": "1"}), None, "one process")
    equal(this_process({"RANK": "x", "WORLD_SIZE": "4"}), None, "nonsense")
    equal(this_process({}), None, "nobody")


def test_a_path_is_told_in_one_line(_):
    equal(printable("/a b/c'd.json.gz"), "/a b/c'd.json.gz", "spaces and quotes")
    check("\n" not in printable("/a\nb"), "a newline in a message")
    check(printable("/caf\udce9"), "bytes that are no text")
