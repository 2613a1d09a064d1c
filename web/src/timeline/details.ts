// The panel of a selected slice: what it is, what it cost and could cost at best, where it comes from, what it leads to, all its arguments.
import type { Cost, Flow, SliceDetails, Track } from "../api/types";
import { button, el, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { roof_bar } from "../ui/roof_bar";
import { chip } from "../ui/columns";
import { exactly } from "../ui/links";

const kNameLength = 4000;
const kValueLength = 4000;
const kFlowsShown = 50;
const kNoKernels = new Set(["memcpy", "memset", "gpu_user_annotation", "cuda_sync", "overhead"]); // what else stands on streams

export interface DetailActions {
  select(id: number): void;
  frame(): void;
  search(text: string): void;
  track_name(track: number): string;
  kernel_page(name: string): string | null; // where a kernel is described as a whole
}

export function details(slice: SliceDetails, track: Track | null, actions: DetailActions, meeting: Child = null): HTMLElement {
  const kernel_page = track?.kind === "stream" && !kNoKernels.has(slice.category) ? actions.kernel_page(slice.name) : null;
  return el(
    "div",
    { class: "details" },
    el(
      "div",
      { class: "details-head" },
      el("h2", { class: "code" }, shorten(slice.name, kNameLength)),
      el(
        "div",
        { class: "row" },
        slice.category ? chip(slice.category) : null,
        button("Zoom to it", actions.frame, { class: "btn small", title: "f" }),
        button("Find all with this name", () => actions.search(exactly(slice.name)), { class: "btn small" }),
        kernel_page ? el("a", { class: "btn small", href: kernel_page }, "About this kernel →") : null,
      ),
    ),
    el(
      "div",
      { class: "details-grid" },
      el(
        "section",
        {},
        el("h3", {}, "When and where"),
        pairs([
          ["Duration", format.time(slice.dur_ns)],
          ["Self", slice.self_ns === null ? null : format.time(slice.self_ns)],
          ["Start", format.moment(slice.start_ns - (slice.of?.shift_ns ?? 0))],
          ["Trace", slice.of?.name],
          ["Track", track?.name ?? String(slice.track)],
          ["Inside", slice.parent ? link_to(slice.parent, actions) : null],
          ["Op", slice.op ? op_of(slice.op, actions) : null],
          ["Op known from", slice.op_from ? kOpSources[slice.op_from] : null],
          ["Module", slice.module],
          ["Python", slice.frame],
        ]),
      ),
      meeting,
      slice.cost ? cost(slice.cost, slice.dur_ns) : null,
      slice.flows.length ? flows(slice.flows, actions) : null,
      el("section", {}, el("h3", {}, "Arguments"), argument_list(slice.args)),
    ),
  );
}

const kOpSources: Record<NonNullable<SliceDetails["op_from"]>, string> = {
  eager_run: "an eager run of the same kernels (the graph replay hides the op)",
  capture: "the capture of the graph (its replay hides the op)",
  capture_file: "the trace given as the capture of the graph (its replay hides the op)",
};

// An op of the capture has no slice in this trace to go to.
function op_of(op: NonNullable<SliceDetails["op"]>, actions: DetailActions): Child {
  return op.id === null ? el("span", { class: "code" }, shorten(op.name, 200)) : link_to({ id: op.id, name: op.name }, actions);
}

function link_to(target: { id: number; name: string }, actions: DetailActions): HTMLElement {
  return button(shorten(target.name, 200), () => actions.select(target.id), { class: "link code", title: shorten(target.name, 600) });
}

function pairs(items: [string, Child][]): HTMLElement {
  const known = items.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el(
    "dl",
    { class: "pairs" },
    ...known.flatMap(([name, value]) => [
      el("dt", {}, name),
      el("dd", {}, typeof value === "string" ? shorten(value, kValueLength) : value),
    ]),
  );
}

const known = (value: number | null, unit: "flop" | "bytes" | "ns" | "percent"): string | null =>
  value === null || value === undefined ? null : format.number(value, unit);

function cost(cost: Cost, dur_ns: number): HTMLElement {
  return el(
    "section",
    {},
    el("h3", {}, "Work and roof"),
    roof_bar(cost.roof_ns, dur_ns),
    pairs([
      ["FLOPs", known(cost.flops, "flop")],
      ["Pointwise FLOPs", known(cost.flops_pointwise, "flop")],
      ["Bytes read", known(cost.bytes_read, "bytes")],
      ["Bytes written", known(cost.bytes_written, "bytes")],
      ["dtype", cost.dtype],
      ["Bound by", cost.bound],
      ["% of peak FLOP/s", known(cost.pct_peak_flops, "percent")],
      ["% of peak bandwidth", known(cost.pct_peak_bandwidth, "percent")],
      ["Headroom", known(cost.headroom_ns, "ns")],
      ["Known from", cost.estimate],
    ]),
  );
}

const kFlowNames: Record<string, string> = { launch: "launch", fwdbwd: "forward–backward", async: "async" };

function flows(list: Flow[], actions: DetailActions): HTMLElement {
  return el(
    "section",
    {},
    el("h3", {}, "Flows"),
    el(
      "ul",
      { class: "flows" },
      ...list
        .slice(0, kFlowsShown)
        .map((flow) =>
          el(
            "li",
            {},
            el("span", { class: "muted" }, `${flow.direction === "in" ? "from" : "to"} (${kFlowNames[flow.kind] ?? flow.kind})`),
            " ",
            link_to(flow, actions),
            " ",
            el("small", { class: "muted" }, `${shorten(actions.track_name(flow.track), 60)} · ${format.time(flow.dur_ns)}`),
          ),
        ),
    ),
    list.length > kFlowsShown ? el("small", { class: "muted" }, `and ${format.count(list.length - kFlowsShown)} more`) : null,
  );
}

function argument_list(values: Record<string, unknown>): HTMLElement {
  const entries = Object.entries(values);
  if (!entries.length) return el("p", { class: "muted" }, "None.");
  return el(
    "dl",
    { class: "pairs args" },
    ...entries.flatMap(([key, value]) => [
      el("dt", {}, shorten(key, 200)),
      el("dd", { class: "code" }, shorten(typeof value === "string" ? value : JSON.stringify(value), kValueLength)),
    ]),
  );
}
