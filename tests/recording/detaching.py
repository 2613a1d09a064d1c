"""Detaching CUPTI behind a window, with a torch that keeps a diary: what Kineto reads when, and which calls are made. On a GPU it was tried by hand."""

import os
import sys
import types

from stage import PACKAGE, equal, program, python_with_torch

sys.path.insert(0, PACKAGE)

from recording import cupti  # noqa: E402


def fake_torch(version="12.4", initialized=True):
    diary = []
    cuda = types.SimpleNamespace(is_initialized=lambda: initialized, synchronize=lambda: diary.append("call"))
    return types.SimpleNamespace(version=types.SimpleNamespace(cuda=version), cuda=cuda, diary=diary)


def stopped(torch):
    """What a session sees when it stops, and the object that stopped it."""
    seen = []
    one = cupti.Cupti(torch)
    one.stop_and_detach(lambda: seen.append(os.environ.get("TEARDOWN_CUPTI")))
    return one, seen[0]


def cleanly(test):
    def run(at):
        cupti._SETTLES_WITHIN_S = 0.01
        os.environ.pop("TEARDOWN_CUPTI", None)
        try:
            test(at)
        finally:
            os.environ.pop("TEARDOWN_CUPTI", None)

    run.__name__ = test.__name__
    return run


@cleanly
def test_a_session_in_the_middle_of_a_program_detaches(_):
    torch = fake_torch()
    one, seen = stopped(torch)
    equal(seen, "1", "what Kineto reads")
    one.settle()
    equal(len(torch.diary) > 1, True, "CUDA calls before the process ends")
    one.settle()
    equal(len(torch.diary), cupti._CALLS, "CUDA calls, asked twice")


@cleanly
def test_nothing_is_asked_where_it_does_harm(_):
    for torch in (fake_torch("11.8"), fake_torch(None), fake_torch(initialized=False)):
        one, seen = stopped(torch)
        equal(seen, None, f"what Kineto reads with CUDA {torch.version.cuda}")
        one.settle()
        equal(torch.diary, [], "CUDA calls")
    os.environ["TEARDOWN_CUPTI"] = "0"  # as torch does for Inductor's CUDA graphs
    one, seen = stopped(fake_torch())
    one.leave_to_others()
    equal((seen, os.environ["TEARDOWN_CUPTI"]), ("0", "0"), "what somebody else has set")


@cleanly
def test_the_programs_own_sessions_are_as_without(_):
    one, _ = stopped(fake_torch())
    one.leave_to_others()
    equal(os.environ.get("TEARDOWN_CUPTI"), None, "what Kineto reads later")


PRETENDS = """
import os, torch
torch.version.cuda = "13.0"
torch.cuda.is_initialized = lambda: True
torch.cuda.is_current_stream_capturing = lambda: False
torch.cuda.synchronize = lambda: print("call")
stop = torch.profiler.profile.stop
def told(self):
    print("stop", os.environ.get("TEARDOWN_CUPTI"))
    stop(self)
torch.profiler.profile.stop = told
exec(open(%r).read())
"""


def test_a_window_that_ends_with_the_program_does_not_detach(at):
    pretends = at.write("pretends.py", PRETENDS % program("train.py"))
    run = at.record(python_with_torch(), pretends, "--steps", "8").expect(0).says("3 steps")
    equal([line for line in run.out.splitlines() if line in ("call", "stop None", "stop 1")], ["stop None"], "what happened")
    run = at.record(python_with_torch(), pretends, "--steps", "10").expect(0).says("5 steps")
    equal([line for line in run.out.splitlines() if line in ("call", "stop None", "stop 1")][:2], ["stop 1", "call"], "what happened")


def test_neither_optimizer_nor_model_but_a_gpu(at):
    loop = at.write("loop.py", """
import time, torch
torch.cuda.is_initialized = lambda: True
torch.cuda.is_current_stream_capturing = lambda: False
torch.set_num_threads(1)
a = torch.randn(32, 32)
end = time.monotonic() + 5
while time.monotonic() < end:
    a = torch.tanh(a @ a)
""")
    at.record(python_with_torch(), loop, flags=("-o", "traces", "--after", "0.2s", "--seconds", "0.2")).expect(0).says("wrote", "by time")
    trace = at.only_trace()
    equal(trace.count("aten::tanh") > 10, True, "ops of the main thread in the trace")


def test_a_window_by_time_without_a_kernel_is_made_again(at):
    """CUDA may take seconds to load what the first kernel needs."""
    loop = at.write("loop.py", """
import sys, time, torch
torch.cuda.is_initialized = lambda: True
torch.cuda.is_current_stream_capturing = lambda: False
torch.set_num_threads(1)
session = next(module for name, module in sys.modules.items() if name.endswith("recording.session"))
looked = []
def saw_device(self):
    looked.append(len(looked) == 2)
    print("looked", looked[-1])
    return looked[-1]
session.Session.saw_device = saw_device
a = torch.randn(32, 32)
end = time.monotonic() + 60
while len(looked) < 3 and time.monotonic() < end:  # on a machine that is busy otherwise it takes longer
    a = torch.tanh(a @ a)
""")
    run = at.record(python_with_torch(), loop, flags=("-o", "traces", "--after", "0.2s", "--seconds", "0.2")).expect(0).says("wrote", "by time")
    equal(run.out.split(), ["looked", "False", "looked", "False", "looked", "True"], "what was looked at")
    equal(at.only_trace().count("aten::tanh") > 10, True, "ops of the main thread in the trace")
