#!/usr/bin/env python3
"""Runs `ridge mcp` over pipes: the protocol's messages, what must be refused, what the answers say (mcp_*.py), and what the first answer about a trace
tells, which is tested here.

usage: mcp.py [--ridge] BINARY [WORD...]     only the tests whose names hold one of the words"""

import json
import os
import re
import sys

import harness
import mcp_access
import mcp_answers
import mcp_protocol
from checks import check, run_tests, words_of
from mcp_session import ROOT, SHARED, call, exchange, fixture, rows_of, text_of


# ---- trajectories: the first answer about a trace holds the cause that was planted and what mending it saves

PLANTED = {
    "fault_autocast_infer": "repeated_casts", "fault_cast_loop_train": "repeated_casts", "fault_casts": "repeated_casts", "fault_channels_first": "layout_transforms",
    "fault_cpu_kernel_break": "cpu_kernels", "fault_dataloader": "dataloader", "fault_double_casts": "duplicate_casts", "fault_fp32_no_tf32": "tf32_off",
    "fault_gemm_misaligned": "gemm_alignment", "fault_item_sync": "host_sync", "fault_optimizer_loop": "optimizer_not_fused", "fault_pageable_copy": "pageable_copy",
    "fault_preprocess": "preprocessing", "fault_recompile_limit": "recompile_limit", "fault_tiny_kernels": "tiny_kernels",
    "fault_transposed_copy": "memory_bound_inefficient", "fault_uncached_allocator": "allocator", "fault_unfused_attention": "unfused_attention",
    "fault_unfused_pointwise": "unfused_pointwise", "nested_disabled_not_a_plain_break": "graph_breaks", "graph_breaks": "graph_breaks",
}
# Programs whose step was timed with the fault and without it, in us, when nobody recorded: tests/fixtures/README.md.
TIMED = {
    "breaks": ("graph_breaks", 6341, 5533), "casts": ("repeated_casts", 1202, 641), "dataloader": ("dataloader", 22759, 3909), "launch_encoder": ("launch_bound", 4832, 390),
    "optimizer": ("optimizer_not_fused", 31955, 14229), "pointwise": ("unfused_pointwise", 1852, 137), "sync_mask": ("host_sync", 871, 798),
}
HEALTHY = {"clean_busy_gemm": 1, "clean_tf32": 1, "clean_channels_last": 11, "pair_launch_encoder_mended": 1, "pair_pointwise_mended": 16}
# What was mended is no longer told; the cause that is next may be.
MENDED = {"clean_fused_pointwise": "unfused_pointwise", "clean_no_sync": "host_sync", "clean_tf32": "tf32_off", "clean_channels_last": "layout_transforms", "clean_casts": "repeated_casts", "clean_preprocess": "preprocessing"}
ONLY_SHARED = {"faults/fault_recompile_in_window": "recompiles"}


def first_answers(paths):
    """What `open` says of each trace, in one session."""
    answers = []
    for at in range(0, len(paths), 20):
        some = paths[at : at + 20]
        found = exchange(["--root", os.path.commonpath([os.path.dirname(path) for path in some])], [call(i, "open", trace=path) for i, path in enumerate(some)])
        answers += [answer["result"] for answer in sorted(found, key=lambda answer: answer["id"])]
    return answers


def finding_in(result, wanted, trace):
    check(not result.get("isError"), f"{trace}: {text_of(result)}")
    found = [row for row in rows_of(result, "findings") if row["id"] == wanted]
    check(found, f"{trace}: {wanted} is not in the first answer: {text_of(result)}")
    text = next(line for line in text_of(result).split("\n") if f'id "{wanted}"' in line)
    check("saves" in text and ' do "' in text and " evidence " in text, f"{trace}: {text}")
    return found[0]


def test_the_first_answer_holds_the_planted_cause_and_its_saving():
    for (trace, cause), result in zip(PLANTED.items(), first_answers([fixture(name) for name in PLANTED]), strict=True):
        saves = finding_in(result, cause, trace)["saves_pct"]
        check(saves is not None and saves > 5, f"{trace}: {cause} saves {saves}")


def test_what_the_first_answer_promises_is_what_mending_brought():
    there, paths = [], []
    for name in TIMED:
        for path in (fixture(f"pair_{name}_fault"), os.path.join(SHARED, "pairs", name + ".fault.json.gz")):
            if os.path.exists(path):
                there.append(name)
                paths.append(path)
                break
        else:
            print(f"skipped first_answer_{name}: ../shared/traces/pairs is not there")
    for name, path in zip(there, paths, strict=True):
        cause, fault_us, mended_us = TIMED[name]
        row = finding_in(first_answers([path])[0], cause, name)
        truth = 100 * (1 - mended_us / fault_us)
        check(row["low_pct"] - 5 <= truth <= row["high_pct"] + 5, f"{name}: mending saved {truth:.1f} % of the step, {cause} promised {row['low_pct']} to {row['high_pct']}")


def test_of_a_healthy_program_it_says_that_nothing_is_to_gain():
    for (trace, most), result in zip(HEALTHY.items(), first_answers([fixture(name) for name in HEALTHY]), strict=True):
        said = re.search(r"^nothing to gain over (\d+) % of a step", text_of(result), re.MULTILINE)
        idles = "recorder_may_explain" in json.dumps(result)
        check(not idles or "step_time" in text_of(result), f"{trace}: of what the recorder may hide is not said how to find it out")
        check(said and int(said.group(1)) <= most and result["structuredContent"]["verdict"] == said.string[said.start():].split("\n")[0], f"{trace}: {text_of(result)}")
    for trace, result in zip(PLANTED, first_answers([fixture(name) for name in PLANTED]), strict=True):
        check("nothing to gain" not in text_of(result), trace)


def test_what_was_mended_is_no_longer_told():
    causes = {fixture(name): cause for name, cause in MENDED.items()}
    for name, (cause, _, _) in TIMED.items():
        here = fixture(f"pair_{name}_mended")
        path = here if os.path.exists(here) else os.path.join(SHARED, "pairs", name + ".mended.json.gz")
        if os.path.exists(path):
            causes[path] = cause
        else:
            print(f"skipped mended_{name}: ../shared/traces/pairs is not there")
    for path, cause in causes.items():
        told = {row["id"]: row["saves_pct"] for row in rows_of(first_answers([path])[0], "findings") if row.get("saves_pct") is not None}
        check(told.get(cause, 0) < 5, f"{path}: {cause} is still promised to save {told.get(cause)} %")


def test_traces_of_the_shared_folder():
    for name, cause in ONLY_SHARED.items():
        path = os.path.join(SHARED, name + ".json.gz")
        if not os.path.exists(path):
            print(f"skipped {name.replace('/', '_')}: ../shared/traces is not there")
            continue
        check(finding_in(first_answers([path])[0], cause, name)["saves_pct"] > 5, name)


def main(arguments):
    binary, words = words_of(arguments)
    harness.use(binary or os.path.join(ROOT, "build", "ridge"))
    tests = {name: test for part in (mcp_protocol, mcp_access, mcp_answers) for name, test in vars(part).items() if name.startswith("test_")}
    return run_tests({**tests, **globals()}, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
