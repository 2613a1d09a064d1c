"""Programs that use PyTorch, under `ridge record`: which steps, which processes, which ends. The truth is PyTorch's own marks in the trace."""

import json
import os
import resource
import signal

from stage import check, equal, program, python_with_torch, ridge


def test_five_steps_of_a_program_nobody_touched(at):
    run = at.train().expect(0).says("wrote", at.at("traces", "trace.json.gz"), "5 steps")
    run.prints("made 12")
    equal(at.only_trace().optimizer_steps(), 5, "recorded steps")


def test_what_is_left_of_the_recorder_afterwards(at):
    words = ("--report", "--steps", "2000")  # long enough for the trace to be written
    plain = at.run(python_with_torch(), program("train.py"), *words).expect(0).out
    equal(at.train(*words).expect(0).out, plain, "what the program sees")


def test_the_asked_steps(at):
    at.train(flags=("--after", "2", "--steps", "3")).expect(0).says("3 steps")
    equal(at.only_trace().optimizer_steps(), 3, "recorded steps")


def test_from_the_first_step(at):
    at.train("--steps", "4", flags=("--after", "0", "--steps", "2")).expect(0)
    equal(at.only_trace().optimizer_steps(), 2, "recorded steps")


def test_exit_codes_are_kept(at):
    at.train("--exit", "41").expect(41).says("5 steps")
    at.only_trace()


def test_a_program_that_raises_leaves_its_trace(at):
    at.train("--raise-at", "7").expect(1).says("as planned", "wrote", "the program ended")
    equal(at.only_trace().optimizer_steps(), 3, "recorded steps")


def test_a_program_that_ends_early_leaves_what_there_is(at):
    at.train("--steps", "7").expect(0).says("2 steps: the program ended")
    equal(at.only_trace().optimizer_steps(), 2, "recorded steps")


def test_a_program_that_is_too_short_is_told_so(at):
    at.train("--steps", "3").expect(0).says("no trace", "3 optimizer steps", "--after 5")
    equal(at.names(), [], "files")


def test_a_program_without_an_optimizer_is_told_how(at):
    run = at.record(python_with_torch(), "-c", "import torch").expect(0).says("no trace", "--seconds")
    equal(run.err.count("no trace"), 1, "messages")


def test_of_several_optimizers_one_makes_the_steps(at):
    at.train("--optimizers", "3").expect(0).says("5 steps")
    # From the end of a step of the first optimizer to the end of another one of its: each of the three, five times.
    equal(at.only_trace().optimizer_steps(), 15, "optimizer steps")


def test_a_step_inside_a_step_is_one(at):
    at.train("--nested").expect(0).says("5 steps")
    equal(at.only_trace().optimizer_steps("Outer"), 5, "recorded steps")


def test_optimizers_that_were_copied_count(at):
    at.train("--copied", "--scheduler").expect(0).says("5 steps")
    equal(at.only_trace().optimizer_steps(), 5, "recorded steps")


def test_steps_that_hold_forward_and_backward(at):
    at.train("--closure").expect(0).says("5 steps")
    trace = at.only_trace()
    equal((trace.optimizer_steps(), trace.count("aten::linear")), (5, 25), "steps, forward passes of the model and of the four samples of each")


def test_data_loaders_are_left_alone(at):
    for start in ("fork", "spawn"):
        at.train("--workers", "2", "--start", start, flags=("-o", start)).expect(0).says("5 steps")
        equal(at.names(start), ["trace.json.gz"], f"files, workers by {start}")


def test_ranks_of_torchrun_write_a_file_each(at):
    run = at.record(python_with_torch(), program("elastic.py"), program("ranks.py")).expect(0)
    equal(at.names(), ["rank0.json.gz", "rank1.json.gz"], "files")
    for name in at.names():
        equal(at.trace(name).optimizer_steps(), 5, f"recorded steps of {name}")
    run.says("[rank 0]: wrote")
    equal(run.err.count("wrote"), 1, "messages: one for all ranks")


def test_ranks_that_a_program_spawns(at):
    at.record(python_with_torch(), program("ranks.py"), "--spawn", at.at("store")).expect(0)
    equal(at.names(), ["rank0.json.gz", "rank1.json.gz"], "files")


def test_ranks_that_a_program_forks(at):
    """As a notebook does: the children train, with what the parent had imported."""
    forks = at.write("forks.py", """
import os, sys, torch
children = []
for rank in range(2):
    child = os.fork()
    if child == 0:
        os.environ.update(RANK=str(rank), WORLD_SIZE="2")
        sys.argv = ["train.py"]
        exec(open(%r).read())
        sys.exit(20 + rank)
    children.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
""" % program("train.py"))
    run = at.record(python_with_torch(), forks).expect(0).prints("[20, 21]")
    equal(at.names(), ["rank0.json.gz", "rank1.json.gz"], "files")
    check("no trace" not in run.err, f"the parent complains: {run.err}")


def started_by(at, method, work):
    """A program that runs these lines in a process of multiprocessing's."""
    return at.write("starts_%s.py" % method, """
import multiprocessing, sys, time, torch
def work():
    model = torch.nn.Linear(8, 8)
    %s
if __name__ == "__main__":
    child = multiprocessing.get_context(%r).Process(target=work)
    child.start()
    child.join()
    print("ended with", child.exitcode)
""" % (work.replace("\n", "\n    "), method))


TRAINS = """optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(%d):
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
"""
WAYS_TO_START = ("fork", "spawn", "forkserver")


def test_processes_of_multiprocessing_are_recorded_however_they_start(at):
    for method in WAYS_TO_START:
        at.record(python_with_torch(), started_by(at, method, TRAINS % 20 + "sys.exit(7)"), flags=("-o", method)).expect(0).says("5 steps").prints("ended with 7")
        equal(at.names(method), ["trace.json.gz"], f"files of a process by {method}")


def test_processes_of_multiprocessing_that_end_early_leave_what_there_is(at):
    for method in WAYS_TO_START:
        for end, code in (("", 0), ("raise ValueError('as planned')", 1)):
            run = at.record(python_with_torch(), started_by(at, method, TRAINS % 8 + end), flags=("-o", f"{method}{code}")).expect(0).prints(f"ended with {code}")
            run.says("3 steps: the program ended")
        run = at.record(python_with_torch(), started_by(at, method, TRAINS % 3), flags=("-o", "short")).expect(0).prints("ended with 0")
        run.says("the program ended after 3 optimizer steps")
        equal(run.err.count("the program ended after"), 1, f"times that this is said, by {method}")
        check("no process took" not in run.err, f"three steps were taken: {run.err}")


def test_processes_of_multiprocessing_without_an_optimizer(at):
    calls = "end = time.monotonic() + 2.5\nwhile time.monotonic() < end:\n    model(torch.randn(4, 8))\n    time.sleep(0.005)"
    for method in WAYS_TO_START:
        at.record(python_with_torch(), started_by(at, method, calls), flags=("-o", method, "--after", "0.5s", "--steps", "4")).expect(0).says("4 steps").prints("ended with 0")
        equal(at.names(method), ["trace.json.gz"], f"files of a process by {method}")


def test_a_program_with_its_own_profiler_keeps_it(at):
    at.train("--own-profiler", "7-9").expect(0).says("wrote", "2 steps: the program began to profile itself")
    with open(at.at("own.json")) as file:
        own = [event["name"] for event in json.load(file)]
    equal(own.count("Optimizer.step#SGD.step"), 3, "steps in the program's own trace")
    equal(at.only_trace().optimizer_steps(), 2, "recorded steps")


def test_a_window_waits_for_the_programs_own_profiler(at):
    at.train("--own-profiler", "2-6", "--steps", "15").expect(0).says("5 steps")
    with open(at.at("own.json")) as file:
        equal([event["name"] for event in json.load(file)].count("Optimizer.step#SGD.step"), 5, "steps in the program's own trace")
    equal(at.only_trace().optimizer_steps(), 5, "recorded steps")


def test_a_program_that_always_profiles_is_told_so(at):
    at.train("--own-profiler", "0-99").expect(0).says("no trace", "profiles itself")


def test_terminated_inside_the_window(at):
    at.train("--kill-at", "7:SIGTERM").expect(-signal.SIGTERM).says("3 steps: SIGTERM")
    equal(at.only_trace().optimizer_steps(), 3, "recorded steps")


def test_terminated_outside_of_the_window(at):
    at.train("--kill-at", "2:SIGTERM").expect(-signal.SIGTERM)
    equal(at.names(), [], "files")


def test_interrupted_as_without(at):
    plain = at.run(python_with_torch(), program("train.py"), "--kill-at", "7:SIGINT").code
    at.train("--kill-at", "7:SIGINT").expect(plain).says("KeyboardInterrupt", "3 steps: the program ended")


def test_a_handler_of_the_program_is_its_own(at):
    at.train("--handler", "--kill-at", "7:SIGTERM").expect(9).says("3 steps")


def test_a_full_disk_costs_the_trace_and_nothing_else(at):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # noqa: E731
    at.record("true").expect(0)  # the recorder itself is in place
    at.train("--exit", "5", preexec_fn=limit).expect(5).says("no trace")
    equal(at.names(), [], "files")


def test_a_folder_that_vanishes_costs_the_trace_and_nothing_else(at):
    at.train("--file-in-the-way", at.at("traces")).expect(0).says("no trace", at.at("traces"))


def test_a_profiler_that_fails_costs_the_trace_and_nothing_else(at):
    run = at.train("--broken-profiler", "--exit", "6").expect(6).says("no trace", "no profiler today")
    run.prints("made 12")
    equal(at.names(), [], "files")


def test_names_of_folders_and_files(at):
    for name in (b"a b'c\"d\n$(e)", b"caf\xe9", "\u00e9t\u00e9 \U0001f600".encode()):
        folder = os.fsencode(at.path) + b"/" + name
        run = at.run(os.fsencode(ridge()), b"record", b"-o", folder, b"--", os.fsencode(python_with_torch()), os.fsencode(program("train.py"))).expect(0)
        run.says("5 steps")
        equal(os.listdir(folder), [b"trace.json.gz"], f"files in {name!r}")
        equal(len(run.err.strip().splitlines()), 1, f"lines in {run.err!r}")


def test_a_second_run_takes_a_name_of_its_own(at):
    at.train(flags=("-o", "run.json.gz")).expect(0).says("run.json.gz")
    at.train(flags=("-o", "run.json.gz")).expect(0).says("run.2.json.gz")
    check(os.path.exists(at.at("run.json.gz")) and os.path.exists(at.at("run.2.json.gz")), "one of the two is missing")


def test_calls_of_a_model_are_steps_where_there_is_no_optimizer(at):
    run = at.record(python_with_torch(), program("infer.py"), flags=("-o", "traces", "--after", "0.5s", "--steps", "4")).expect(0).says("4 steps")
    run.prints("restored True")
    trace = at.only_trace()
    equal(trace.count("aten::linear"), 8, "layers in the trace: two a call")


def test_a_window_by_time_records_training_by_its_steps(at):
    at.train("--steps", "3000", flags=("--after", "0.1s", "--seconds", "0.1")).expect(0)
    trace = at.only_trace()
    check(trace.optimizer_steps() >= 1, "no optimizer step in the trace")
    equal(5 * trace.optimizer_steps(), trace.count("aten::linear"), "whole steps: an optimizer step for each forward pass and its four samples")


def test_memory_and_shapes_reach_the_profiler(at):
    tell = at.write("tell.py", "import torch\nold = torch.profiler.profile.__init__\ndef init(self, **k):\n    print(sorted((n, v) for n, v in k.items() if isinstance(v, bool)))\n"
                    "    old(self, **k)\ntorch.profiler.profile.__init__ = init\nexec(open(%r).read())\n" % program("train.py"))
    for flags, wanted in (((), (False, True, False)), (("--memory", "--stacks", "--no-shapes"), (True, False, True))):
        run = at.record(python_with_torch(), tell, flags=("-o", "traces", *flags)).expect(0)
        run.prints(str(list(zip(("profile_memory", "record_shapes", "with_stack"), wanted))))


def test_settings_that_are_nonsense_cost_the_trace_and_nothing_else(at):
    run = at.record("env", "RIDGE_RECORD_AFTER=soon", python_with_torch(), program("train.py"), "--exit", "4").expect(4).says("not recorded", "soon")
    run.prints("made 12")


def test_a_recorder_that_breaks_costs_the_trace_and_nothing_else(at):
    """Whatever fails inside what the program calls: here the test of whether a CUDA graph is being captured."""
    broken = at.write("broken.py", "import torch\ntorch.cuda.is_initialized = None\nexec(open(%r).read())\n" % program("train.py"))
    run = at.record(python_with_torch(), broken).expect(0).says("no trace", "TypeError")
    run.prints("made 12")


def test_other_profilers_of_the_program_come_first(at):
    nvtx = at.write("nvtx.py", """
import torch
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(9):
    if number == 7:
        try:
            torch.autograd.profiler.emit_nvtx().__enter__()
        except Exception as error:  # a PyTorch without CUDA
            print("refused", "already" in str(error))
    model(torch.randn(2)).sum().backward()
    optimizer.step()
""")
    run = at.record(python_with_torch(), nvtx).expect(0).says("2 steps: the program began to profile itself")
    check("refused True" not in run.out, "the program's own profiler met ours")
