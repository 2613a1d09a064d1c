"""Which command runs, and what it says of itself: help, version, completion, flags, misspellings."""

import json
import os
import re
import shutil
import subprocess

from checks import check, equal
from harness import refused, Run, succeeds, TIMEOUT_S, TRACE

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_nothing_given_is_short_help_on_stderr(_):
    run = Run().expect(2)
    equal(run.out, "", "stdout")
    check("usage: ridge" in run.err and len(run.err.splitlines()) < 10, run.err)


def test_help_is_on_stdout(_):
    for words in (["help"], ["--help"], ["-h"]):
        run = succeeds(*words)
        equal(run.err, "", "stderr")
        for word in ("usage: ridge", "  info ", "--format", "Examples:", "Exit codes", "130", "143", "129"):
            check(word in run.out, f"{words}: no {word!r} in the help")


def test_help_on_a_command(folder):
    run = succeeds("help", "info")
    check(run.out.startswith("ridge info: "), run.out)
    equal(succeeds("info", "--help").out, run.out, "info --help")
    equal(succeeds("info", folder.trace, "-h").out, run.out, "info TRACE -h")
    check("usage: ridge completion" in succeeds("help", "completion").out, "help completion")
    refused(2, "help", "inof", error="'inof'", hint="info")


def test_help_fits_a_screen(_):
    longest = max(len(line) for line in succeeds("help").out.splitlines())
    check(longest <= 120, f"a line of {longest} characters")


def test_more_threads_than_cores_say_nothing(folder):
    equal(succeeds("info", "--threads", "64", folder.trace).err, "", "standard error")


def test_version(_):
    run = succeeds("version")
    found = re.fullmatch(r"ridge \d+\.\d+\.\d+(?: \(([0-9a-f]{7,40})(?:-dirty)?\))?\n", run.out)
    check(found, run.out)
    checkout = os.path.exists(os.path.join(ROOT, ".git")) and shutil.which("git") is not None
    check(not checkout or found.group(1), f"built from a checkout, it tells the commit: {run.out}")
    equal(succeeds("--version").out, run.out, "--version")


def test_a_second_trace_is_not_dropped(folder):
    other = folder.write("other.json", TRACE)
    refused(2, "summary", folder.trace, other, error="summary .* 2 ", hint="ridge diff")
    refused(2, folder.trace, other, error="one trace")


def test_the_next_command_can_be_pasted(folder):
    spaced = folder.write("my trace.json", TRACE)
    check(re.search(rf"next: ridge \w+ '{re.escape(spaced)}'\n", succeeds(spaced).out), "a path with a space")
    check("next:" not in succeeds("summary", "-", stdin=TRACE.encode()).out, "standard input cannot be read again")


def completed(*words):
    """What bash offers for the last of these words."""
    line = " ".join(f"'{word}'" for word in words)
    asked = f'COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _ridge; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", succeeds("completion", "bash").out + asked], capture_output=True, text=True, timeout=TIMEOUT_S, cwd="/")
    equal(done.stderr, "", "stderr of bash")
    return done.stdout.split()


def test_completion_offers_what_a_flag_takes(folder):
    for command in ("kernels", "ops"):
        offered = completed("ridge", command, "--by", "")
        check(len(offered) > 3, offered)
        for word in offered:
            succeeds(command, "--by", word, folder.trace)
            check(re.search(rf"--by .*\b{word}\b", succeeds("help", command).out), f"help of {command} has {word}")
    for flag in ("-f", "--format"):
        offered = completed("ridge", "info", flag, "")
        check({"table", "json", "csv", "md"} <= set(offered), offered)
    equal(completed("ridge", "help", "kern"), ["kernels", "kernel"], "commands")
    equal(completed("ridge", "completion", ""), ["bash", "zsh", "fish"], "shells")


def test_commands_without_tables_refuse_flags_of_tables(folder):
    for command in (["augment", folder.trace, folder.at("o.json")], ["cut", folder.trace, folder.at("o.json"), "--from", "0"],
                    ["combine", folder.trace, folder.at("o.json")], ["report", folder.trace, "-o", folder.at("o.html")]):
        for flags in (["--sort", "foo"], ["--json"], ["-n", "3"]):
            refused(2, *command, *flags, error=command[0], hint="ridge help")
        text = succeeds("help", command[0]).out
        check("--sort" not in text and "--format" not in text, text)
        if command[0] != "report":
            check("standard input" not in text, text)
    equal(folder.names(), ["t.json"], "nothing was written")


def test_completion_of_bash_works(_):
    script = succeeds("completion", "bash").out
    asked = 'COMP_WORDS=(ridge inf); COMP_CWORD=1; _ridge; echo "${COMPREPLY[@]}"; COMP_WORDS=(ridge info --js); COMP_CWORD=2; _ridge; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script + asked], capture_output=True, text=True, timeout=TIMEOUT_S, cwd="/")
    equal((done.stdout, done.stderr), ("info\n--json\n", ""), "bash completes")


def test_completion_of_bash_keeps_names_with_spaces_whole(folder):
    folder.write("my trace.json", TRACE)
    asked = 'COMP_WORDS=(ridge info my); COMP_CWORD=2; _ridge; printf "%s|" "${COMPREPLY[@]}"'
    script = succeeds("completion", "bash").out + asked
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=TIMEOUT_S, cwd=folder.path)
    equal(done.stdout, "my trace.json|", "bash completes")


def test_completion_of_other_shells(_):
    check("#compdef ridge" in succeeds("completion", "zsh").out, "zsh")
    check("complete -c ridge" in succeeds("completion", "fish").out, "fish")
    refused(2, "completion", "tcsh", error="'tcsh'", hint="bash")
    refused(2, "completion", error="shell")


def test_a_trace_alone_runs_the_first_question(folder):
    run = succeeds("--json", folder.trace)
    check(json.loads(run.out)["command"] in ("summary", "info"), run.out[:100])


def test_unknown_command_names_the_nearest(_):
    refused(2, "inof", error="'inof'", hint="info")
    refused(2, "inof", "t.json", error="'inof'")
    refused(2, "xyzzy", error="'xyzzy'", hint="ridge help")


def test_missing_file_is_not_an_unknown_command(_):
    refused(1, "no_such.json", error="no_such.json")
    refused(1, "no/such", error="no/such")
    refused(1, "info", "nosuch", error="nosuch")


def test_a_file_named_like_nothing_is_a_trace(folder):
    folder.write("plainname", TRACE)
    succeeds("plainname", cwd=folder.path)


def test_a_command_wins_over_a_file_of_its_name(folder):
    folder.write("info", TRACE)
    refused(2, "info", cwd=folder.path, error="info ")
    succeeds("./info", cwd=folder.path)
    succeeds("--", "info", cwd=folder.path)


def test_flags_stand_anywhere(folder):
    wanted = succeeds("info", folder.trace, "--format", "csv").out
    for words in (["info", "-f", "csv", folder.trace], ["-f", "csv", "info", folder.trace], ["--format=csv", "info", folder.trace],
                  ["info", "-fcsv", folder.trace], ["info", folder.trace, "--json", "-f", "csv"]):
        equal(succeeds(*words).out, wanted, " ".join(words))
    equal(succeeds("info", "-f", "csv", "--json", folder.trace).out[:1], "{", "the last of two formats wins")


def test_wrong_flags(folder):
    refused(2, "info", folder.trace, "--jsn", error="--jsn", hint="--json")
    refused(2, "info", folder.trace, "--zzzzzzz", error="--zzzzzzz", hint="ridge help info")
    refused(2, "info", folder.trace, "-n", error="--limit")
    refused(2, "info", folder.trace, "-n", "x", error="'x'")
    refused(2, "info", folder.trace, "-n", "-1", error="'-1'")
    refused(2, "info", folder.trace, "--threads", "1.5", error="--threads")
    refused(2, "info", folder.trace, "--threads", "100000", error="4096")
    refused(2, "info", folder.trace, "-f", "jsno", error="'jsno'", hint="json")
    refused(2, "info", folder.trace, "--sort", "evnets", error="'evnets'", hint="events")
    refused(2, "info", "--json", error="info ")


def test_an_empty_value_swallows_nothing(folder):
    for words in (["--sort=", "-n", "3"], ["--output=", "--json"], ["--filter=", "-n", "3"], ["--limit=", "3"]):
        refused(2, "kernels", folder.trace, *words, error=f"{words[0][:-1]} needs a value")
    refused(2, "kernels", folder.trace, "-o", "", error="invalid value ''", hint="- for standard output")
    refused(2, "kernels", folder.trace, "--sort", "", error="invalid value ''", hint="column")
    refused(2, "kernels", folder.trace, "--sorted=", error="unknown flag --sorted", hint="--sort")


def test_byte_counts(folder):
    for text in ("1000000", "64k", "64K", "64kB", "1.5G", "2GiB", "1T", "512MiB"):
        succeeds("info", folder.trace, "--max-bytes", text)
    for text in ("", "x", "5Q", "-1", "0", "1e5", "GiB", "99999999999T"):
        refused(2, "info", folder.trace, "--max-bytes=" + text if text else "--max-bytes", error="--max-bytes|bytes")


def test_max_bytes_is_a_limit(folder):
    refused(1, "info", folder.trace, "--max-bytes", "100", error="100 bytes")
