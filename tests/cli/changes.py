"""Questions about a step, and the flags that narrow them: what is said of changes that cannot be made, and of flags that change nothing."""

import json
import os

from checks import check, equal
from harness import refused, succeeds

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
ITEM_SYNC = os.path.join(FIXTURES, "fault_item_sync.json.gz")


def rows_of(out, table=0):
    table = json.loads(out)["tables"][table]
    return [dict(zip((column["name"] for column in table["columns"]), row)) for row in table["rows"]]


def test_an_id_that_is_no_finding_names_those_of_the_trace(folder):
    ids = [row["id"] for row in rows_of(succeeds("findings", ITEM_SYNC, "--json").out)]
    check("host_sync" in ids, ids)
    refused(2, "whatif", ITEM_SYNC, "--do", "finding:nope", error="unknown finding 'nope'", hint="findings of this trace: " + ", ".join(ids))
    refused(2, "whatif", ITEM_SYNC, "--do", "finding:host_snyc", error="host_snyc", hint="did you mean host_sync")
    refused(2, "whatif", folder.trace, "--do", "finding:nope", error="nope", hint="this trace has no findings")
    absent = rows_of(succeeds("whatif", ITEM_SYNC, "--do", "finding:tf32_off", "--json").out)[-1]
    equal(absent["saves_ns"], None, "a finding that this trace does not have")
    check("host_sync" in absent["basis"], absent["basis"])


def test_a_filter_chooses_what_whatif_and_critical_list(folder):
    all_scenarios = rows_of(succeeds("whatif", ITEM_SYNC, "--do", "host=0.5x", "--json").out)
    narrow = succeeds("whatif", ITEM_SYNC, "--do", "host=0.5x", "--filter", "^host", "--json")
    equal(rows_of(narrow.out), [row for row in all_scenarios if row["scenario"].startswith("host")], "scenarios, with the figures that they have")
    whole = json.loads(succeeds("critical", ITEM_SYNC, "--json").out)["tables"][0]
    part = json.loads(succeeds("critical", ITEM_SYNC, "--filter", "cudaMemcpy", "--json").out)["tables"][0]
    wanted = [row for row in whole["rows"] if "cudaMemcpy" in row[1]]
    equal(part["rows"], wanted, "pieces of that name; percentages of the whole step")
    check(0 < len(wanted) < len(whole["rows"]), wanted)
    equal(part["total"][3], sum(row[3] for row in wanted), "their total")
    for command in ("whatif", "critical"):
        check("no name matches --filter zzz" in succeeds(command, ITEM_SYNC, "--filter", "zzz").err, command)


def test_flags_that_change_nothing_are_refused(folder):
    for command, flag in (("ops", "--device"), ("ops", "--tf32"), ("ops", "--table"), ("critical", "--device"), ("critical", "--clock-mhz"),
                          ("replay", "--dtype"), ("autotune", "--dtype"), ("roofline", "--table"), ("check", "--expected-file"), ("diff", "--table")):
        refused(2, command, ITEM_SYNC, *([ITEM_SYNC] if command == "diff" else []), flag, *([] if flag == "--tf32" else ["1"]), error="unknown flag " + flag)
    refused(2, "devices", "--tf32", error="unknown flag --tf32")
