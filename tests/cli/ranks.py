"""Whole jobs: the ranks of one folder, digests instead of traces, and what users hand over that is no whole job.

The job is examples/job: eight ranks on two hosts whose clocks differ by 0.2 s; rank 5's loader is late, rank 6's device is slow."""

import gzip
import json
import os
import shutil

from checks import check, equal
from harness import refused, succeeds

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOB = os.path.join(ROOT, "examples", "job")
MENDED = os.path.join(ROOT, "examples", "job_mended")
WORLD = 8
PLANTED = {(5, "data"), (6, "device")}


def rank_file(rank, job=JOB):
    return os.path.join(job, f"rank{rank}.json.gz")


def trace_of(rank):
    with gzip.open(rank_file(rank), "rb") as file:
        return json.load(file)


def write(folder, name, trace):
    return folder.write(name, json.dumps(trace))


def answer(*paths):
    """(rows of each table as dicts, diagnostics by code)"""
    got = json.loads(succeeds("ranks", "--json", *paths).out)
    tables = {}
    for table in got["tables"]:
        names = [column["name"] for column in table["columns"]]
        tables[table["name"]] = [dict(zip(names, row)) for row in table["rows"]]
    return tables, {each["code"]: each["message"] for each in got["diagnostics"]}


def planted(tables):
    return {(row["rank"], row["cause"]) for row in tables["stragglers"]}


def ranks_of(tables):
    return [row["rank"] for row in tables["ranks"]]


def says(diagnostics, code, *words):
    check(code in diagnostics, f"{code} is not said: {diagnostics}")
    for word in words:
        check(word in diagnostics[code], f"{code} says {diagnostics[code]!r}, without {word!r}")


def test_the_ranks_of_a_folder(folder):
    tables, diagnostics = answer(JOB)
    equal(planted(tables), PLANTED, "stragglers")
    equal(ranks_of(tables), list(range(WORLD)), "ranks")
    equal(diagnostics, {}, "nothing is wrong with it")
    shown = succeeds("ranks", JOB).out
    check("stragglers" in shown and "data" in shown and "device" in shown, shown)


def test_a_healthy_job_has_no_straggler(folder):
    tables, _ = answer(os.path.join(ROOT, "examples", "job_mended"))
    equal(tables["stragglers"], [], "stragglers")
    equal(len(tables["ranks"]), WORLD, "ranks")


def test_who_waited_for_a_late_rank_is_not_late_itself(folder):
    """Ranks 4 and 7 come to the second host's collectives with the others as late as 5 and 6 let them."""
    tables, _ = answer(JOB)
    late = {row["rank"]: row["late_ns"] for row in tables["ranks"]}
    slow = {rank for rank, _ in PLANTED}
    least = min(late[rank] for rank in slow)
    for rank, ns in late.items():
        check(rank in slow or ns * 5 < least, f"rank {rank}, which is not slow, is late by {ns} ns: {late}")


def test_ranks_in_any_order(folder):
    wanted, _ = answer(JOB)
    got, _ = answer(*[rank_file(rank) for rank in (6, 1, 7, 0, 5, 3, 2, 4)])
    equal(got, wanted, "tables")


def test_clocks_do_not_matter(folder):
    """The same job when its second host is a quarter of a second further ahead."""
    wanted, _ = answer(JOB)
    paths = []
    for rank in range(WORLD):
        trace = trace_of(rank)
        for event in trace["traceEvents"] if rank >= 4 else ():
            event["ts"] = event["ts"] + 250_000
        paths.append(write(folder, f"rank{rank}.json", trace))
    got, _ = answer(*paths)
    equal(planted(got), PLANTED, "stragglers")
    for before, after in zip(wanted["stragglers"], got["stragglers"]):
        check(abs(before["costs_ns"] - after["costs_ns"]) <= 0.01 * before["costs_ns"], f"{before} became {after}")


def test_digests_say_what_traces_say(folder):
    wanted, _ = answer(JOB)
    succeeds("ranks", "--digest", folder.at("all.digest"), JOB)
    equal(answer(folder.at("all.digest"))[0], wanted, "one file of digests")
    for rank in range(WORLD):
        succeeds("ranks", "--digest", folder.at(f"r{rank}.digest"), rank_file(rank))
    each = [folder.at(f"r{rank}.digest") for rank in range(WORLD)]
    equal(answer(*each)[0], wanted, "a digest a rank")
    equal(answer(*each[:3], *[rank_file(rank) for rank in range(3, WORLD)])[0], wanted, "digests beside traces")


def test_a_folder_with_digests_beside_a_trace(folder):
    """Some ranks were digested where they lie, one trace was copied."""
    wanted, _ = answer(JOB)
    os.makedirs(folder.at("mixed"))
    shutil.copy(rank_file(0), folder.at("mixed"))
    succeeds("ranks", "--digest", folder.at("mixed/others.digest"), *[rank_file(rank) for rank in range(1, WORLD)])
    got, diagnostics = answer(folder.at("mixed"))
    equal(got, wanted, "tables")
    equal(diagnostics, {}, "nothing is wrong with it")
    succeeds("ranks", "--digest", folder.at("mixed/all.digest"), os.path.join(MENDED, "rank0.json.gz"))
    got, diagnostics = answer(folder.at("mixed"))
    equal(got, wanted, "the trace of rank 0 counts, not a digest of another recording")
    says(diagnostics, "digest_beside_trace", "rank 0 has")


def test_two_jobs_whose_ranks_have_different_numbers(folder):
    """Of either job half of the ranks: what the ones say of their groups is not what the others say."""
    paths = [rank_file(rank) for rank in range(4)]
    for rank in range(4, WORLD):
        trace = trace_of(rank)
        groups = trace["distributedInfo"]["pg_config"]
        renamed = {g["pg_name"]: g["pg_name"] + "0" for g in groups if len(g["ranks"]) < WORLD}
        check(renamed, "the job has no group but that of all ranks")
        for group in groups:
            group["pg_name"] = renamed.get(group["pg_name"], group["pg_name"])
        for event in trace["traceEvents"]:
            name = event.get("args", {}).get("Process Group Name")
            if name in renamed:
                event["args"]["Process Group Name"] = renamed[name]
        paths.append(write(folder, f"rank{rank}.json", trace))
    got, diagnostics = answer(*paths)
    equal(ranks_of(got), list(range(4)), "ranks")
    says(diagnostics, "other_job", "4 traces", "other process groups")
    # One rank that lists its groups otherwise is no second job.
    got, _ = answer(*[rank_file(rank) for rank in range(WORLD - 1)], paths[-1])
    equal(ranks_of(got), list(range(WORLD)), "ranks")


def test_two_files_of_digests_are_one(folder):
    """Put together by cat, as a merge on a cluster does."""
    wanted, _ = answer(JOB)
    parts = []
    for rank in range(WORLD):
        succeeds("ranks", "--digest", folder.at("one.digest"), rank_file(rank))
        with open(folder.at("one.digest"), "rb") as file:
            parts.append(file.read())
    with open(folder.at("all.digest"), "wb") as file:
        file.write(b"".join(parts))
    equal(answer(folder.at("all.digest"))[0], wanted, "tables")


def test_damaged_digests_are_refused(folder):
    succeeds("ranks", "--digest", folder.at("d.digest"), rank_file(0))
    with open(folder.at("d.digest"), "rb") as file:
        whole = file.read()
    for name, data in (("cut", whole[: len(whole) // 2]), ("flipped", whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:]), ("head", whole[:9])):
        with open(folder.at(f"{name}.digest"), "wb") as file:
            file.write(data)
        refused(1, "ranks", folder.at(f"{name}.digest"), error=f"{name}|digest")


def test_ranks_of_another_job_are_left_out(folder):
    wanted, _ = answer(JOB)
    other = [os.path.join(ROOT, "tests", "fixtures", f"ddp_gloo_rank{rank}.json.gz") for rank in range(2)]
    got, diagnostics = answer(*[rank_file(rank) for rank in range(WORLD)], *other)
    says(diagnostics, "other_job", "ddp_gloo_rank0", "ddp_gloo_rank1")
    equal(got, wanted, "tables")


def test_a_rank_given_twice(folder):
    again = shutil.copy(rank_file(3), folder.at("again.json.gz"))
    got, diagnostics = answer(*[rank_file(rank) for rank in range(WORLD)], again)
    says(diagnostics, "rank_twice", "3", "again.json.gz")
    equal((planted(got), ranks_of(got)), (PLANTED, list(range(WORLD))), "the rest")


def test_half_of_the_ranks_missing(folder):
    got, diagnostics = answer(*[rank_file(rank) for rank in (1, 4, 5, 6)])
    says(diagnostics, "ranks_missing", "4 of 8", "0, 2-3, 7")
    equal(ranks_of(got), [1, 4, 5, 6], "ranks")


def without_ranks(trace):
    """As profilers wrote before they knew of jobs: neither the rank nor its groups."""
    del trace["distributedInfo"]
    for event in trace["traceEvents"]:
        args = event.get("args", {})
        for key in [k for k in args if k.startswith("Process Group") or k in ("Rank", "Seq")]:
            del args[key]
    return trace


def test_no_rank_information(folder):
    """Names of files tell, where they do; else the order."""
    named = [write(folder, f"job_rank{rank}.json", without_ranks(trace_of(rank))) for rank in range(4, WORLD)]
    got, diagnostics = answer(*named)
    equal(ranks_of(got), [4, 5, 6, 7], "by name")
    says(diagnostics, "rank_unknown")
    unnamed = [shutil.copy(path, folder.at(f"{letter}.json")) for path, letter in zip(named, "abcd")]
    got, diagnostics = answer(*unnamed)
    equal(ranks_of(got), [0, 1, 2, 3], "by order")
    says(diagnostics, "rank_unknown")


def test_one_trace_cut_off(folder):
    text = json.dumps(trace_of(2))
    cut = folder.write("rank2.json", text[: len(text) * 2 // 3])
    got, diagnostics = answer(*[rank_file(rank) for rank in range(WORLD) if rank != 2], cut)
    says(diagnostics, "rank_damaged", "rank2.json")
    equal((planted(got), len(got["ranks"])), (PLANTED, WORLD), "the rest")


def test_another_number_of_steps(folder):
    trace = trace_of(1)
    steps = sorted((e for e in trace["traceEvents"] if e["name"].startswith("ProfilerStep")), key=lambda e: e["ts"])
    begin = steps[-1]["ts"]
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e["ph"] == "M" or e["ts"] < begin or e.get("cat") == "Trace"]
    got, diagnostics = answer(*[rank_file(rank) for rank in range(WORLD) if rank != 1], write(folder, "rank1.json", trace))
    says(diagnostics, "steps_differ", "rank1.json")
    equal((planted(got), len(got["ranks"])), (PLANTED, WORLD), "the rest")


def test_groups_that_never_meet(folder):
    """Only the tensor-parallel collectives stay: nothing ties the two hosts."""
    paths = []
    for rank in range(WORLD):
        trace = trace_of(rank)
        tensor = next(g["pg_name"] for g in trace["distributedInfo"]["pg_config"] if g["pg_desc"] == "mesh_tp")
        trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("args", {}).get("Process Group Name", tensor) == tensor]
        paths.append(write(folder, f"rank{rank}.json", trace))
    got, diagnostics = answer(*paths)
    says(diagnostics, "groups_apart")
    equal(ranks_of(got), list(range(WORLD)), "ranks")


def test_files_that_are_no_traces(folder):
    shutil.copytree(JOB, folder.at("job"))
    folder.write("job/truth.json", '{"made": "up"}')
    got, diagnostics = answer(folder.at("job"))
    folder.write("job/config.json", "[1, 2]")
    got, diagnostics = answer(folder.at("job"))
    says(diagnostics, "no_trace", "truth.json", "config.json")
    check("rank_unreadable" not in diagnostics, "a file beside the traces is no rank")
    equal(planted(got), PLANTED, "the rest")
    refused(1, "ranks", folder.at("job/truth.json"), error="traceEvents")
    refused(1, "ranks", folder.at("none"), error="none")


def test_two_jobs_in_one_folder(folder):
    """All ranks of a job, and half of those of another that was recorded at the same time: the other is left out, not mixed in."""
    shutil.copytree(JOB, folder.at("job"))
    for rank in range(WORLD // 2):
        other = trace_of(rank)
        for event in other["traceEvents"]:
            args = event.get("args", {})
            if args.get("Group size") == WORLD and "In msg nelems" in args:
                args["In msg nelems"] = args["Out msg nelems"] = 4096
        write(folder, f"job/other{rank}.json", other)
    got, diagnostics = answer(folder.at("job"))
    says(diagnostics, "other_job", "another program", "other0.json")
    check("rank_twice" not in diagnostics, "no rank is taken for another's")
    equal(planted(got), PLANTED, "the job's own answer")


def test_a_folder_for_each_machine(folder):
    for rank in range(WORLD):
        os.makedirs(folder.at(f"job/host{rank // 4}"), exist_ok=True)
        shutil.copy(rank_file(rank), folder.at(f"job/host{rank // 4}/trace{rank % 4}.json.gz"))
    got, _ = answer(folder.at("job"))
    equal(planted(got), PLANTED, "stragglers")


def test_findings_of_digests_that_have_none(folder):
    succeeds("ranks", "--digest", folder.at("plain.digest"), JOB)
    got, diagnostics = answer(folder.at("plain.digest"), "--findings")
    says(diagnostics, "findings_unknown", "--findings")
    succeeds("ranks", "--findings", "--digest", folder.at("whole.digest"), JOB)
    got, diagnostics = answer(folder.at("whole.digest"), "--findings")
    check("findings_unknown" not in diagnostics, "these have findings")
    rows = {row["id"]: row for row in got["findings"]}
    equal(rows["dataloader"]["most_rank"], 5, "whom the data loader costs most")
    check(rows["dataloader"]["most_saves_ns"] > rows["dataloader"]["at_most_ns"], "what it costs that rank, not the median one")
    check("record one trace per rank" not in json.dumps(got["findings"]), "who has all ranks is not told to record them")


def test_diff_of_jobs_takes_two(folder):
    refused(2, "diff", JOB, MENDED, "--fail-above", "5%", error="two jobs")
    refused(2, "diff", JOB, MENDED, JOB, error="compares two jobs")


def test_ray_needs_the_package(folder):
    refused(2, "ranks", "--ray", JOB, error="--ray needs the Python package", hint=r"ridge\[ray\]")
    refused(2, "ranks", f"--ray={JOB}", error="--ray needs the Python package")
    refused(2, "info", "--ray", JOB, error="unknown flag --ray")
