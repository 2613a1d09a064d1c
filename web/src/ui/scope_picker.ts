// The picker of the scope, on every page: a list of iterations, the same as bars to click on (their lengths; Shift extends), and a
// range of time in milliseconds.
import type { TraceInfo } from "../api/types";
import { button, el, svg } from "./dom";
import * as format from "./format";
import { effective, scope_text, steps_of, whole, type Scope } from "./scope";

export type Choose = (changes: Record<string, string | null>) => void;

const kStrip = { width: 160, height: 26 };

export function scope_picker(trace: TraceInfo, scope: Scope, given: Scope, choose: Choose): HTMLElement {
  const shown = effective(scope, given);
  const steps = steps_of(shown);
  const all = trace.iterations.list;
  const single = steps && steps[0] === steps[1] && !shown.from && !shown.to ? String(steps[0]) : null;
  const text = scope_text(shown, trace);
  const select = el(
    "select",
    {
      class: "input scope-choice",
      "aria-label": "Part of the trace",
      title: text || "Whole trace",
      on: { change: () => choose(select.value === "" ? whole(given) : { step: select.value, from: null, to: null }) },
    },
    el("option", { value: "", selected: !text }, "Whole trace"),
    text && single === null ? el("option", { value: "?", selected: true, disabled: true }, text) : null,
    ...all.map((each) =>
      el(
        "option",
        { value: each.index, selected: String(each.index) === single },
        `Iteration ${each.index} · ${format.time(each.end_ns - each.start_ns)}`,
      ),
    ),
  );
  return el("div", { class: "scope" }, select, all.length > 1 ? strip(trace, steps, choose) : null, time_range(shown, given, choose));
}

function strip(trace: TraceInfo, steps: [number, number] | null, choose: Choose): SVGElement {
  const all = trace.iterations.list;
  const longest = Math.max(1, ...all.map((each) => each.end_ns - each.start_ns));
  const wide = kStrip.width / all.length;
  const chosen = (index: number): boolean => !!steps && index >= steps[0] && index <= steps[1];
  const bars = all.map((each, i) => {
    const height = Math.max(2, (kStrip.height * (each.end_ns - each.start_ns)) / longest);
    return svg("rect", {
      x: (i * wide).toFixed(2),
      y: (kStrip.height - height).toFixed(2),
      width: Math.max(0.5, wide - (wide > 3 ? 1 : 0)).toFixed(2),
      height: height.toFixed(2),
      class: chosen(each.index) ? "chosen" : "",
      "data-step": String(each.index),
    });
  });
  // The list beside it is the same for the keyboard and for readers of the screen.
  const node = svg(
    "svg",
    { class: "scope-strip", viewBox: `0 0 ${kStrip.width} ${kStrip.height}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    ...bars,
  );
  node.addEventListener("click", (event) => {
    const box = node.getBoundingClientRect();
    const at = Math.min(all.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / Math.max(1, box.width)) * all.length)));
    const index = all[at]!.index;
    const range = event.shiftKey && steps ? [Math.min(steps[0], index), Math.max(steps[1], index)] : [index, index];
    choose({ step: range[0] === range[1] ? String(range[0]) : `${range[0]}-${range[1]}`, from: null, to: null });
  });
  return node;
}

function time_range(shown: Scope, given: Scope, choose: Choose): HTMLElement {
  const field = (label: string, value: string | undefined): HTMLInputElement =>
    el("input", { class: "input", type: "number", min: "0", step: "any", "aria-label": label, placeholder: label, value: value ?? "" });
  const [from, to] = [field("from ms", shown.from), field("to ms", shown.to)];
  const apply = (): void => {
    const set = { step: null, from: from.value || null, to: to.value || null };
    choose(set.from || set.to ? set : whole(given));
  };
  const enter = (event: KeyboardEvent): void => (event.key === "Enter" ? apply() : undefined);
  for (const each of [from, to]) each.addEventListener("keydown", enter);
  return el(
    "details",
    { class: "scope-time", open: Boolean(shown.from || shown.to) },
    el("summary", {}, "Time range"),
    el("div", { class: "row" }, from, to, button("Set", apply, { class: "btn small", "aria-label": "Show this range of time" })),
  );
}
