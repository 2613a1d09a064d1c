// `ridge sql` on the tables that Perfetto's users know gives what Perfetto's own trace processor gives.
import { check, equal, fixture, run_ridge } from "../harness.mjs";
import { ask_perfetto, fetch_perfetto } from "../perfetto.mjs";
import { queries } from "../perfetto_queries.mjs";

const kTraces = ["gpt_compiled_train.json.gz", "fault_item_sync.json.gz", "mlp_profiler_steps.json.gz"].map(fixture);

const ask_ridge = (path, sql) => JSON.parse(run_ridge("sql", path, sql, "--json", "-q")).tables[0].rows;
// Means are sums of doubles: in which order is nobody's to say.
const near = (a, b) => a === b || (typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= 1e-9 * Math.abs(b));
function same_rows(found, wanted, what) {
  equal(found.length, wanted.length, `${what}: rows`);
  found.forEach((row, i) => check(row.length === wanted[i].length && row.every((cell, j) => near(cell, wanted[i][j])), `${what}, row ${i}: found ${JSON.stringify(row)}, wanted ${JSON.stringify(wanted[i])}`));
}

const with_perfetto = (run) => () => {
  const missing = fetch_perfetto();
  return missing ? { skipped: missing } : run();
};

export const cases = {
  "queries give what Perfetto gives": with_perfetto(() => {
    const answered = new Set();
    for (const path of kTraces) {
      const theirs = ask_perfetto(path, [...Object.values(queries), "SELECT value FROM stats WHERE name = 'slice_drop_overlapping_complete_event'"]);
      equal(theirs.at(-1).rows[0][0], 0, `slices of ${path} that Perfetto drops`);
      Object.entries(queries).forEach(([name, sql], i) => {
        same_rows(ask_ridge(path, sql), theirs[i].rows, `${name} of ${path}`);
        if (theirs[i].rows.length > 0) answered.add(name);
      });
    }
    equal(Object.keys(queries).filter((name) => !answered.has(name)), [], "queries that no trace has rows for");
    check(Object.keys(queries).length >= 20, "twenty queries");
  }),

  "slices that Perfetto drops are kept and counted": with_perfetto(() => {
    const path = fixture("compiled_with_fallbacks.json.gz");
    const [all, dropped] = ask_perfetto(path, ["SELECT count(*), sum(dur) FROM slice", "SELECT value FROM stats WHERE name = 'slice_drop_overlapping_complete_event'"]);
    check(dropped.rows[0][0] > 0, "there are some");
    const [[kept, overlapping]] = ask_ridge(path, "SELECT count(*), sum(overlaps) FROM slice");
    equal(overlapping, dropped.rows[0][0], "those that overlap");
    equal(kept - overlapping, all.rows[0][0], "the others");
    same_rows(ask_ridge(path, "SELECT count(*), sum(dur) FROM slice WHERE NOT overlaps"), all.rows, "the others");
  }),
};
