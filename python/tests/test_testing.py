"""ridge.testing: the gates of diff and check as assertions. Numbers of the messages are those that `ridge diff` itself prints."""

import json
import shlex
import subprocess

import pytest

import ridge
from ridge.testing import assert_no_new_breaks, assert_no_regression, assert_no_slower_kernel, assert_undamaged


@pytest.fixture(scope="module")
def pair(fixtures):
    """The same program without and with needless casts, on an H200: 221.608 us and 362.833 us of GPU time per step."""
    return str(fixtures / "pair_casts_mended.json.gz"), str(fixtures / "pair_casts_fault.json.gz")


def test_a_regression_fails_with_what_changed(pair):
    with pytest.raises(AssertionError) as raised:
        assert_no_regression(*pair, above="5%")
    message = str(raised.value)
    assert message.startswith("fail_above: GPU time 221.608 us -> 362.833 us")
    for text in ("221.608 us", "362.833 us", "63.7 %", "aten::to", "ridge diff", "--fail-above 5%"):
        assert text in message


def test_the_command_of_a_message_fails_as_the_test_does(pair, binary):
    with pytest.raises(AssertionError) as raised:
        assert_no_regression(*pair, above="5%")
    command = str(raised.value).rpartition("again: ridge ")[2]
    done = subprocess.run(f"{shlex.quote(binary)} {command}", shell=True, capture_output=True, text=True)
    assert done.returncode == 3
    assert "--fail-above" in done.stderr


def test_no_regression_gives_the_report(pair):
    report = assert_no_regression(*reversed(pair), above="5%")
    assert {row["metric"] for row in report.tables["totals"]} >= {"gpu_time", "wall_time"}


def test_the_limit_is_the_limit(pair):
    assert_no_regression(*pair, above="64%")
    with pytest.raises(AssertionError):
        assert_no_regression(*pair, above=63.5)
    assert_no_regression(*pair, above=64)


def test_open_traces_and_paths_are_the_same(pair, fixtures):
    with ridge.open(pair[0]) as before, ridge.open(pair[1]) as after:
        with pytest.raises(AssertionError, match="63.7"):
            assert_no_regression(before, after)
    with pytest.raises(AssertionError, match="63.7"):
        assert_no_regression(fixtures / "pair_casts_mended.json.gz", fixtures / "pair_casts_fault.json.gz")


def test_keywords_of_diff_are_taken_and_others_refused(pair):
    assert_no_regression(*pair, above="5%", filter="nvjet")  # the products are not slower
    with pytest.raises(AssertionError, match="--filter"):
        assert_no_regression(*pair, above="5%", filter="no such kernel")
    with pytest.raises(TypeError):
        assert_no_regression(*pair, steps=3)


def test_a_slower_kernel_is_named(pair, fixtures):
    before, after = str(fixtures / "pair_casts_fault.json.gz"), str(fixtures / "pair_casts_mended.json.gz")
    slower = [row for row in ridge.diff(before, after) if row["match"] and row["delta_pct"] and row["delta_pct"] > 5 and row["delta_ns"] > 100]
    assert slower, "the pair has a kernel that is slower in the mended program"
    with pytest.raises(AssertionError) as raised:
        assert_no_slower_kernel(before, after, above="5%", min_ns=100)
    assert "--fail-kernel-above" in str(raised.value)
    assert_no_slower_kernel(before, after, above="1000%")


def test_new_graph_breaks(fixtures):
    mended, fault = str(fixtures / "pair_breaks_mended.json.gz"), str(fixtures / "pair_breaks_fault.json.gz")
    assert_no_new_breaks(fault, mended)
    with pytest.raises(AssertionError, match="--max-new-breaks 0"):
        assert_no_new_breaks(mended, fault)
    assert_no_new_breaks(mended, fault, at_most=1000)


def test_damage(tmp_path, path):
    assert_undamaged(path)
    broken = tmp_path / "broken.json"
    event = json.dumps({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"device": 0, "stream": 7}})
    broken.write_text('{"traceEvents": [' + event + ", " + event[:-20])
    with pytest.raises(AssertionError) as raised:
        assert_undamaged(broken)
    assert "truncated" in str(raised.value) and str(broken) in str(raised.value)


def test_a_file_that_is_not_there_is_no_regression_but_an_error(pair):
    with pytest.raises(ridge.ReadError):
        assert_no_regression(pair[0], "nowhere.json")
