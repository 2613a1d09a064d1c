"""ridge.profile and ridge.trace_handler, in programs that use PyTorch."""

import sys

from stage import PACKAGE, equal, program, python_with_torch


def inside(at, kind, **more):
    return at.run(python_with_torch(), program("inside.py"), PACKAGE, at.at("traces"), kind, **more)


def test_profile_records_the_asked_steps(at):
    run = inside(at, "steps").expect(0).says("wrote", at.at("traces", "trace.json.gz"))
    run.prints(repr([at.at("traces", "trace.json.gz")]))
    equal(at.only_trace().optimizer_steps(), 2, "recorded steps")


def test_profile_records_a_whole_block(at):
    inside(at, "block").expect(0)
    equal(at.only_trace().optimizer_steps(), 8, "recorded steps")


def test_profile_says_that_there_were_too_few_steps(at):
    inside(at, "few").expect(0).says("no trace", "8 calls of step()", "after=50")
    equal(at.names(), [], "files")


def test_profile_keeps_what_there_is_when_the_program_raises(at):
    inside(at, "raises").expect(1).says("as planned", "wrote")
    equal(at.only_trace().optimizer_steps(), 4, "recorded steps")


def test_profile_names_the_rank(at):
    inside(at, "steps", env={"RANK": "1", "WORLD_SIZE": "2"}).expect(0)
    equal(at.names(), ["rank1.json.gz"], "files")


def test_profile_shows_the_first_lines_of_the_summary(at):
    from stage import ridge
    import os

    inside(at, "steps", env={"PATH": os.path.dirname(ridge()) + ":" + os.environ["PATH"]}).expect(0).says("iterations", "window")


def test_a_handler_writes_each_window_of_torch_profiler(at):
    inside(at, "handler").expect(0).says("wrote")
    equal(at.names(), ["trace.2.json.gz", "trace.json.gz"], "files")
    for name in at.names():
        equal(at.trace(name).optimizer_steps(), 2, f"recorded steps of {name}")


def test_recording_does_not_need_torch_to_be_imported(at):
    """import ridge must not import torch, nor need it."""
    run = at.run(sys.executable, "-c", "import sys; sys.path.insert(0, %r); import recording.attach; recording.profile; print('torch' in sys.modules)" % PACKAGE)
    equal(run.expect(0).out, "False\n", "whether torch was imported")
