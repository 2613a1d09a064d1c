"""Which files `ridge mcp` reads, and which it does not."""

import json
import os
import shutil
import subprocess

from checks import check, equal
from harness import program
from mcp_session import PATIENCE_S, Running, ask, call, fixture, folder_of, refused, rows_of, text_of


def test_only_what_was_named_or_lies_below_the_root():
    with folder_of("fault_casts") as outside, folder_of("fault_casts") as root:
        os.mkdir(os.path.join(root, "sub"))
        inside = os.path.join(root, "sub", "in.json.gz")
        shutil.copy(fixture("clean_casts"), inside)
        os.symlink(inside, os.path.join(root, "good_link.json.gz"))
        os.symlink(os.path.join(outside, "fault_casts.json.gz"), os.path.join(root, "bad_link.json.gz"))
        os.symlink(outside, os.path.join(root, "bad_folder"))
        os.mkfifo(os.path.join(root, "pipe.json"))
        os.mkdir(os.path.join(root, "folder.json"))
        shutil.copy(inside, os.path.join(root, "secrets.txt"))
        os.mkdir(root + "x")
        shutil.copy(inside, os.path.join(root + "x", "near.json.gz"))
        try:
            for good in ("sub/in.json.gz", "./sub/../sub/in.json.gz", "good_link.json.gz", inside, "fault_casts.json.gz"):
                check(not ask(["--root", root], "info", trace=good).get("isError"), good)
            bad = ["bad_link.json.gz", "bad_folder/fault_casts.json.gz", "../" + os.path.basename(outside) + "/fault_casts.json.gz",
                   os.path.join(outside, "fault_casts.json.gz"), "pipe.json", "folder.json", "secrets.txt", "", ".", "/etc/passwd", "/dev/stdin", "-",
                   "nothing.json", "sub/in.json.gz\0", "x" * 5000, root + "x/near.json.gz", "/proc/self/fd/0", "sub"]
            for name in bad:
                refused(["--root", root], "info", "may be read here", trace=name)
                check(ask(["--root", root], "info", trace="fault_casts.json.gz", capture=name).get("isError"), f"capture {name}")
            listed = [row["trace"] for row in rows_of(ask(["--root", root], "open"), "traces")]
            equal(listed, ["fault_casts.json.gz", "sub/in.json.gz"], "the list")
        finally:
            shutil.rmtree(root + "x")


def test_a_named_trace_that_became_a_link_is_not_followed():
    with folder_of("fault_casts", "clean_casts") as folder:
        named = os.path.join(folder, "fault_casts.json.gz")
        with Running(named) as running:
            running.send(call(1, "info"))
            check(not running.next()["result"].get("isError"), "the trace")
            os.remove(named)
            os.symlink(os.path.join(folder, "clean_casts.json.gz"), named)
            running.send(call(2, "info"))
            check("may be read here" in text_of(running.next()["result"]), "the link")


def test_a_trace_that_was_recorded_again_is_read_again():
    with folder_of("fault_casts") as folder, Running("--root", folder) as running:
        trace = os.path.join(folder, "fault_casts.json.gz")
        running.send(call(1, "open", trace="fault_casts.json.gz"))
        check("repeated_casts" in text_of(running.next()["result"]), "before")
        shutil.copy(fixture("clean_casts"), trace + ".new")
        os.replace(trace + ".new", trace)
        running.send(call(2, "open", trace="fault_casts.json.gz"))
        check("repeated_casts" not in text_of(running.next()["result"]), "after")


def test_no_file_that_a_trace_names_is_read():
    with folder_of() as folder:
        secret = os.path.join(folder, "secret.py")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("def triton_poi_fused_0(in_ptr0, out_ptr0, xnumel):\n    # TOP SECRET\n    pass\n")
        args = {"device": 0, "stream": 7, "kernel_file": secret, "kernel_backend": "triton"}
        events = [{"ph": "X", "cat": "kernel", "name": "triton_poi_fused_0", "pid": 0, "tid": 7, "ts": 10 * i, "dur": 5, "args": args} for i in range(3)]
        with open(os.path.join(folder, "t.json"), "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
        for tool in ("open", "kernel", "kernels"):
            result = ask(["--root", folder], tool, trace="t.json", **({"name": "triton_poi_fused_0"} if tool == "kernel" else {}))
            check("TOP SECRET" not in json.dumps(result), tool)


def test_it_needs_something_to_read():
    for args, code in {(): 2, ("-",): 2, ("--root", "/nothing/there"): 1, ("/nothing/there.json",): 1, (fixture("fault_casts"), "--json"): 2}.items():
        run = subprocess.run([program(), "mcp", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S)
        equal((run.returncode, run.stdout, run.stderr.startswith(b"error: ")), (code, b"", True), f"mcp {args}")
