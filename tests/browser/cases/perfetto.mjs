// What `augment`, `combine` and `cut` write opens in Perfetto, and holds there what it should.
import { join } from "node:path";
import { check, equal, fixture, run_ridge, scratch } from "../harness.mjs";
import { fetch_perfetto, open_in_perfetto } from "../perfetto.mjs";

const kTraces = ["gpt_compiled_train.json.gz", "graph_breaks_stack.json.gz", "mlp_profiler_steps.json.gz"].map(fixture);
const kOurs = /^args\.(kernel_flop|kernel_num_gb|achieved_flops_pct|achieved_bandwidth_pct|bound|roof_us|ridge)\b/;
const written = (name) => join(scratch, name);
const without_ours = ({ args, ...slice }) => ({ ...slice, args: Object.fromEntries(Object.entries(args).filter(([key]) => !kOurs.test(key))) });
// Processes that are named by a text ("Spans") get a number from Perfetto, in each trace another; a negative one (overhead) is taken for 0.
const told_by_number = (slice) => slice.category !== "Trace" && slice.category !== "overhead";
const pids_of = ({ slices }) => new Set(slices.filter(told_by_number).map((slice) => slice.pid)).size;
const text_of = (slice) => JSON.stringify(told_by_number(slice) ? slice : { ...slice, pid: 0, tid: 0 });

const opened = new Map(); // the inputs: a few seconds each
const open_input = (path) => opened.get(path) ?? opened.set(path, open_in_perfetto(path)).get(path);

// The case, or why it cannot be tried here.
const with_perfetto = (run) => () => {
  const missing = fetch_perfetto();
  return missing ? { skipped: missing } : run();
};

export const cases = {
  "augmented traces show what they showed, and the roof": with_perfetto(() => {
    for (const path of kTraces) {
      const out = written("augmented.json.gz");
      run_ridge("augment", path, out);
      const [before, after] = [open_input(path), open_in_perfetto(out)];
      check(before.slices.length > 100, `${path} shows slices`);
      equal(after.slices.map(without_ours), before.slices.map(without_ours), `slices of ${path}`);
      for (const what of ["without_thread", "flows", "loose", "complaints"]) equal(after[what], before[what], `${what} of ${path}`);
      const kernels = after.slices.filter((slice) => slice.category === "kernel");
      check(kernels.length > 0 && kernels.every((slice) => "args.bound" in slice.args), `every kernel of ${path} tells its bound`);
    }
  }),

  "combined traces stand side by side": with_perfetto(() => {
    const out = written("combined.json");
    run_ridge("combine", ...kTraces, out);
    const [parts, whole] = [kTraces.map(open_input), open_in_perfetto(out)];
    const sum = (what) => parts.reduce((total, part) => total + what(part), 0);
    equal(whole.slices.length, sum((part) => part.slices.length), "slices");
    equal(whole.slices.reduce((total, slice) => total + slice.dur, 0), sum((part) => part.slices.reduce((total, slice) => total + slice.dur, 0)), "their time");
    equal(whole.flows, sum((part) => part.flows), "arrows");
    check(whole.flows > 0 && whole.loose === 0, "arrows have two ends");
    equal(whole.complaints.length, sum((part) => part.complaints.length), "complaints");
    equal(pids_of(whole), sum(pids_of), "processes");
  }),

  "a cut trace keeps its step's slices and arrows": with_perfetto(() => {
    const out = written("cut.json.gz");
    const [path] = kTraces;
    run_ridge("cut", path, out, "--step", "1");
    const [whole, cut] = [open_input(path), open_in_perfetto(out)];
    check(cut.slices.length > 100 && cut.slices.length < whole.slices.length, `${cut.slices.length} of ${whole.slices.length} slices`);
    check(cut.flows > 0 && cut.loose === 0, "it has arrows with two ends");
    equal(cut.complaints, whole.complaints, "complaints");
    const known = new Set(whole.slices.map(text_of));
    for (const slice of cut.slices) check(known.has(text_of(slice)), `${slice.name} at ${slice.ts} is a slice of the whole`);
  }),
};
