// What `augment`, `combine` and `cut` write opens in chrome://tracing, and holds there what it should.
import { join } from "node:path";
import { open_in_chrome_tracing } from "../chrome_tracing.mjs";
import { check, equal, fixture, run_ridge, scratch } from "../harness.mjs";

const kTraces = ["gpt_compiled_train.json.gz", "graph_breaks_stack.json.gz", "mlp_profiler_steps.json.gz"].map(fixture);
const kOurs = ["kernel_flop", "kernel_num_gb", "achieved_flops_pct", "achieved_bandwidth_pct", "bound", "roof_us", "ridge"];
const written = (name) => join(scratch, name);
const without_ours = ({ args, ...slice }) => ({ ...slice, args: Object.fromEntries(Object.entries(args).filter(([key]) => !kOurs.includes(key))) });
const on_a_device = (slice) => slice.category === "kernel";

export const cases = {
  "augmented traces show what they showed, and the roof": () => {
    for (const path of kTraces) {
      const out = written("augmented.json.gz");
      run_ridge("augment", path, out);
      const [before, after] = [open_in_chrome_tracing(path), open_in_chrome_tracing(out)];
      check(before.slices.length > 100, `${path} shows slices`);
      equal(after.slices.map(without_ours), before.slices.map(without_ours), `slices of ${path}`);
      equal(after.flows.length, before.flows.length, `arrows of ${path}`);
      equal(after.complaints, before.complaints, `complaints about ${path}`);
      const kernels = after.slices.filter(on_a_device);
      check(kernels.length > 0 && kernels.every((slice) => "bound" in slice.args), `every kernel of ${path} tells its bound`);
    }
  },

  "combined traces stand side by side": () => {
    const out = written("combined.json.gz");
    run_ridge("combine", ...kTraces, out);
    const parts = kTraces.map(open_in_chrome_tracing);
    const whole = open_in_chrome_tracing(out);
    const sum = (what) => parts.reduce((total, part) => total + what(part), 0);
    equal(whole.slices.length, sum((part) => part.slices.length), "slices");
    equal(whole.flows.length, sum((part) => part.flows.length), "arrows");
    check(whole.flows.length > 0, "there are arrows");
    equal(whole.complaints.length, sum((part) => part.complaints.length), "complaints");
    equal(new Set(whole.slices.map((slice) => slice.pid)).size, sum((part) => new Set(part.slices.map((slice) => slice.pid)).size), "processes");
    for (const flow of whole.flows) check(flow.startSlice && flow.endSlice, `the arrow ${flow.title} has two ends`);
  },

  "a cut trace keeps its step's slices and arrows": () => {
    const out = written("cut.json.gz");
    const [path] = kTraces;
    run_ridge("cut", path, out, "--step", "1");
    const [whole, cut] = [open_in_chrome_tracing(path), open_in_chrome_tracing(out)];
    check(cut.slices.length > 100 && cut.slices.length < whole.slices.length, `${cut.slices.length} of ${whole.slices.length} slices`);
    check(cut.flows.length > 0, "it has arrows");
    const known = new Set(whole.slices.map((slice) => JSON.stringify(slice)));
    for (const slice of cut.slices) check(known.has(JSON.stringify(slice)), `${slice.name} at ${slice.start} is a slice of the whole`);
  },
};
