"""What `ridge record` does before and instead of the command: it becomes it. No PyTorch is needed here."""

import os
import signal
import stat
import subprocess
import sys

from stage import check, equal, ridge

PYTHON = sys.executable


def test_the_command_takes_the_place_of_ridge(at):
    started = subprocess.Popen([ridge(), "record", "-q", "--", PYTHON, "-c", "import os, sys; print(os.getpid()); sys.exit(41)"], cwd=at.path,
                               env=at.environment(), stdout=subprocess.PIPE)
    out, _ = started.communicate(timeout=60)
    equal((int(out), started.returncode), (started.pid, 41), "process id and exit code")


def test_arguments_and_streams_are_the_commands_own(at):
    words = ["a b", "", "--steps", "-o", "'\"\n", "--"]
    run = at.record(PYTHON, "-c", "import sys; print(sys.argv[1:])", *words).expect(0)
    equal(run.out, repr(words) + "\n", "arguments")


def test_a_signal_ends_the_command_as_without(at):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGKILL, signal.SIGXFSZ):
        kill = ["sh", "-c", f"kill -{int(number)} $$"]
        equal(at.record(*kill).code, at.run(*kill).code, f"exit code by {number.name}")


def test_what_was_ignored_stays_ignored_and_nothing_else(at):
    tell = "import signal; print([int(signal.getsignal(n) == signal.SIG_IGN) for n in (2, 15, 1, 13, 25)])"
    script = f"trap '' INT HUP; exec \"$@\" {PYTHON} -c '{tell}'"
    plain = at.run("sh", "-c", script, "sh", "env").expect(0).out
    equal(at.run("sh", "-c", script, "sh", ridge(), "record", "-q", "--").expect(0).out, plain, "ignored signals")
    shell = "trap '' INT; exec \"$@\" grep -i sigign /proc/self/status"
    plain = at.run("sh", "-c", shell, "sh", "env").expect(0).out
    equal(at.run("sh", "-c", shell, "sh", ridge(), "record", "-q", "--").expect(0).out, plain, "ignored signals of a program that is not Python")


def test_a_command_that_cannot_be_run_is_said(at):
    at.record("no-such-program", flags=()).expect(127).says("cannot run no-such-program")
    at.record("./no-such-program", flags=()).expect(127)
    plain = at.write("plain", "echo ran\n")
    for command in (plain, at.path):  # neither can be run: one may not be, the other is a folder
        at.record(command, flags=()).expect(126).says("cannot run")
        equal(at.run("sh", "-c", f"'{command}'").code, 126, "what a shell exits with")
    equal(at.names("."), ["home", "plain"], "files")
    at.run(ridge(), "record").expect(2).says("needs a command", "ridge record -- python train.py")


def test_values_are_checked_before_anything_runs(at):
    for flags, said in ((("--after", "3x"), "--after"), (("--after", "-1"), "--after"), (("--after", "1.5"), "--after"), (("--after", "nans"), "--after"),
                        (("--steps", "0"), "--steps"), (("--seconds", "0"), "--seconds"), (("--seconds", "inf"), "--seconds")):
        run = at.record(PYTHON, "-c", "print('ran')", flags=flags).expect(2).says(said, "hint:")
        equal(run.out, "", f"output with {flags}")


def test_times_of_after_reach_the_program_in_seconds(at):
    tell = "import os; print(os.environ['RIDGE_RECORD_AFTER'])"
    for text, wanted in (("7", "7"), ("30s", "30s"), ("2m", "120s"), ("0.5s", "0.5s")):
        equal(at.record(PYTHON, "-c", tell, flags=("-q", "--after", text)).expect(0).out.strip(), wanted, f"--after {text}")


def test_settings_of_an_outer_ridge_record_do_not_leak_in(at):
    tell = "import os; print(sorted(k for k in os.environ if k.startswith('RIDGE_RECORD')))"
    run = at.record(PYTHON, "-c", tell, env={"RIDGE_RECORD_STEPS": "3", "RIDGE_RECORD_SECONDS": "1", "RIDGE_RECORD_AFTER": "9s"}).expect(0)
    equal(run.out.strip(), "['RIDGE_RECORD_BEGUN', 'RIDGE_RECORD_TO', 'RIDGE_RECORD_WITH']", "variables")


def test_pythons_that_would_not_listen_are_refused(at):
    script = at.write("run.py", "print('ran')\n")
    shebang = at.write("tool", f"#!{PYTHON} -I\nprint('ran')\n")
    by_env = at.write("tool2", "#!/usr/bin/env -S python3 -sE\nprint('ran')\n")
    for path in (shebang, by_env):
        os.chmod(path, 0o755)
    for command, option in (((PYTHON, "-I", script), "-I"), ((PYTHON, "-E", "-c", "1"), "-E"), ((PYTHON, "-uS", script), "-S"),
                            ((PYTHON, "-X", "dev", "-I", script), "-I"), ((PYTHON, "-Wignore", "-I", script), "-I"), ((shebang,), "-I"), ((by_env,), "-E"),
                            (("env", PYTHON, "-I", script), "-I"), (("env", "-u", "X", "A=1", "B=2", PYTHON, "-I", script), "-I"), (("nice", PYTHON, "-I", script), "-I"),
                            (("nice", "-n", "5", PYTHON, "-E", script), "-E"), (("nice", "-5", PYTHON, "-E", script), "-E"), (("nohup", shebang), "-I"),
                            (("timeout", "-s", "INT", "60", PYTHON, "-S", script), "-S"), (("nice", "env", "A=1", PYTHON, "-I", script), "-I"),
                            (("taskset", "-c", "0", PYTHON, "-I", script), "-I"), (("stdbuf", "-oL", PYTHON, "-I", script), "-I"),
                            (("env", "-i", PYTHON, script), "env starts its command without the environment"),
                            (("env", "-u", "PYTHONPATH", PYTHON, script), "without the environment")):
        run = at.record(*command, flags=()).expect(2).says(option, "hint:", "ridge.profile")
        equal(run.out, "", f"output of {command}")
    equal(at.names("."), ["home", "run.py", "tool", "tool2"], "files")


def test_pythons_that_listen_are_not_refused(at):
    script = at.write("run.py", "import sys; print('ran', sys.argv[1:])\n")
    for command in ((PYTHON, "-u", script, "-I"), (PYTHON, "-c", "print('ran')", "-E"), (PYTHON, "-X", "importtime=0", script, "-S"),
                    (PYTHON, "-W", "ignore::Warning", script), (PYTHON, "-s", script), ("env", "A=-I", PYTHON, script, "-I"), ("nice", "-n", "1", PYTHON, script, "-E"),
                    ("timeout", "60", PYTHON, "-u", script), ("env", "-u", "NOTHING", "nice", PYTHON, script)):
        at.record(*command).expect(0).prints("ran")


def test_the_programs_own_sitecustomize_runs_once_and_sees_the_same_path(at):
    os.mkdir(at.at("mine"))
    at.write("mine/sitecustomize.py", "import sys; print('mine', sys.path, __file__)\n")
    tell = "import sys; print(sys.path); print(sys.modules['sitecustomize'].__file__)"
    environment = {"PYTHONPATH": at.at("mine")}
    plain = at.run(PYTHON, "-c", tell, env=environment).expect(0).out
    equal(plain.count("mine/sitecustomize.py"), 2, "the test itself")
    equal(at.record(PYTHON, "-c", tell, flags=("-q",), env=environment).expect(0).out, plain, "output")


def test_a_sitecustomize_that_fails_fails_as_without(at):
    os.mkdir(at.at("mine"))
    for text in ("raise RuntimeError('mine')\n", "import no_such_module\n", "raise SystemExit(7)\n"):
        at.write("mine/sitecustomize.py", text)
        environment = {"PYTHONPATH": at.at("mine")}
        plain = at.run(PYTHON, "-c", "print('ran')", env=environment)
        run = at.record(PYTHON, "-c", "print('ran')", flags=("-q",), env=environment)
        equal((run.code, run.out), (plain.code, plain.out), f"with {text!r}")


def test_settings_that_are_nonsense_harm_nobody(at):
    run = at.record("env", "RIDGE_RECORD_AFTER=soon", PYTHON, "-c", "print('ran')").expect(0)
    run.says("no trace", "soon")
    equal(run.out, "ran\n", "output")


def test_a_program_without_torch_is_told_so(at):
    run = at.record(PYTHON, "-c", "print('ran')", flags=()).expect(0).says("no trace", "imported no torch")
    equal(run.out, "ran\n", "output")
    equal(at.names("."), ["home"], "files: an empty folder is not left behind")
    equal(at.record(PYTHON, "-c", "1", flags=("-q",)).err, "", "with --quiet")


def test_children_of_a_fork_tell_nothing(at):
    fork = "import os, sys\nif os.fork() == 0: sys.exit(0)\nos.wait()"
    run = at.record(PYTHON, "-c", fork).expect(0)
    equal(run.err.count("no trace"), 1, f"messages in {run.err!r}")


def test_where_traces_cannot_go_is_said_before_the_run(at):
    at.write("file", "in the way")
    for place in ("/proc/nowhere", "file", "file/below"):
        run = at.record(PYTHON, "-c", "print('ran')", flags=("-o", place)).expect(1).says("cannot be written", place, "-o")
        equal(run.out, "", "output")


def test_no_folder_is_left_where_nothing_was_recorded(at):
    for flags in (("-q",), ("-q", "-o", "new/folder"), ("-q", "-o", "other/trace.json.gz")):
        for command in ((PYTHON, "-c", "1"), ("sh", "-c", "exit 0"), ("no-such-program",)):
            at.record(*command, flags=flags)
    equal(at.names("."), ["home"], "files")


def cached(at):
    folder = at.at("home", ".cache", "ridge")
    names = os.listdir(folder)
    equal(len(names), 1, f"folders among {names}")
    return os.path.join(folder, names[0])


def test_the_recorder_is_laid_out_once_and_mended_where_touched(at):
    hook = "import sitecustomize; print(sitecustomize.__file__)"
    first = at.record(PYTHON, "-c", hook, flags=("-q",)).expect(0).out.strip()
    equal(os.path.dirname(first), cached(at), "the folder")
    equal(at.record(PYTHON, "-c", hook, flags=("-q",)).expect(0).out.strip(), first, "the second time")
    with open(first, "a") as file:
        file.write("print('touched')\n")
    run = at.record(PYTHON, "-c", hook, flags=("-q",)).expect(0)
    check("touched" not in run.out, "a file that somebody changed was run")


def test_a_folder_of_others_is_not_trusted(at):
    at.record(PYTHON, "-c", "1", flags=("-q",)).expect(0)
    folder = cached(at)
    os.chmod(folder, os.stat(folder).st_mode | stat.S_IWOTH)
    run = at.record(PYTHON, "-c", "import sitecustomize; print(sitecustomize.__file__)", flags=("-q",)).expect(0)
    check(os.path.dirname(run.out.strip()) != folder, "a folder that everybody may write to was used")


def test_a_home_that_cannot_stand_in_pythonpath(at):
    os.mkdir(at.at("ho:me"))
    run = at.record(PYTHON, "-c", "import sitecustomize; print(sitecustomize.__file__)", flags=("-q",), env={"HOME": at.at("ho:me"), "TMPDIR": at.at("home")})
    run.expect(0)
    check(run.out.startswith(at.at("home")), f"the recorder lies in {run.out}")


def test_an_old_python_is_left_alone(at):
    """A Python that cannot read the recorder runs the program: sitecustomize.py itself keeps to syntax that all of them share."""
    import ast
    import os.path

    from stage import PACKAGE

    with open(os.path.join(PACKAGE, "recording", "hook", "sitecustomize.py")) as file:
        text = file.read()
    ast.parse(text, feature_version=(3, 4))
    check("f\"" not in text and "print " not in text, "syntax that is not shared")
    for folder, _, names in os.walk(os.path.join(PACKAGE, "recording")):
        for name in names:
            if name.endswith(".py"):
                with open(os.path.join(folder, name)) as file:
                    ast.parse(file.read(), feature_version=(3, 8))
