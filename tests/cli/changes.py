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
