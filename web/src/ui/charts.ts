// Small charts of a report: bars, one stacked bar with its legend, curves over time, a waterfall. Plain elements and SVG; text beside colour.
import type { Series } from "../api/types";
import { el, svg, shorten } from "./dom";
import * as format from "./format";

export interface Bar {
  label: string;
  value: number;
  text: string; // the value as read
  colour: string;
  href?: string;
  note?: string;
}

// Horizontal bars on one scale, longest value = whole width.
export function bars(items: Bar[], label: string): HTMLElement {
  const most = Math.max(...items.map((item) => item.value), 1e-12);
  return el(
    "div",
    { class: "bars", role: "list", "aria-label": label },
    ...items.map((item) => {
      const inner = [
        el("span", { class: "bars-label", title: shorten(item.label, 400) }, shorten(item.label, 200)),
        el("span", { class: "bars-track" }, el("i", { class: item.value ? "" : "none", style: { width: `${(100 * item.value) / most}%`, background: item.colour } })),
        el("span", { class: "bars-text num" }, item.text, item.note ? el("small", { class: "muted" }, ` ${item.note}`) : null),
      ];
      return item.href
        ? el("div", { role: "listitem" }, el("a", { class: "bars-row", href: item.href }, ...inner))
        : el("div", { class: "bars-row", role: "listitem" }, ...inner);
    }),
  );
}

export interface Part {
  name: string;
  value: number;
  colour: string;
  title?: string;
  idle?: boolean; // hatched
}

// Parts of a whole; `total` may exceed their sum (what is left stays empty).
export function stacked(parts: Part[], total: number, text: (value: number) => string): HTMLElement {
  const share = (value: number): number => (total > 0 ? (100 * value) / total : 0);
  const shown = parts.filter((part) => part.value > 0);
  return el(
    "div",
    { class: "stack" },
    el(
      "div",
      {
        class: "stack-bar",
        role: "img",
        "aria-label": shown.map((part) => `${part.name} ${format.percent(share(part.value))}`).join(", "),
      },
      ...shown.map((part) =>
        el("i", {
          class: part.idle ? "idle" : "",
          style: { width: `${share(part.value)}%`, "background-color": part.colour },
          title: `${part.name}: ${text(part.value)} (${format.percent(share(part.value))})`,
        }),
      ),
    ),
    el(
      "div",
      { class: "legend" },
      ...shown.map((part) =>
        el(
          "span",
          { class: "legend-item", title: part.title },
          el("i", { class: part.idle ? "idle" : "", style: { "background-color": part.colour } }),
          part.name,
          " ",
          el("b", {}, text(part.value)),
          " ",
          el("small", { class: "muted" }, format.percent(share(part.value))),
        ),
      ),
    ),
  );
}

const kWidth = 1000;
const kHeadroom = 22; // px above the highest value: its number stands there
const kReadings = 100; // steps of the arrow keys

// Step curves over the window's time, one colour each. Drawn at most two points a pixel, keeping each pixel's extremes.
export function curves(series: Series[], window_ns: number, colours: string[], on_click?: (time_ns: number) => void): HTMLElement {
  const height = 180;
  const most = series.reduce((high, each) => each.points.reduce((value, point) => Math.max(value, point[1]), high), 1e-12);
  const x = (time: number): number => (kWidth * time) / Math.max(1, window_ns);
  const y = (value: number): number => height - (height - kHeadroom) * (value / most);
  const readout = el("span", { class: "muted num", "aria-live": "polite" });
  const picture = svg(
    "svg",
    {
      class: "curves",
      viewBox: `0 0 ${kWidth} ${height}`,
      preserveAspectRatio: "none",
      role: "img",
      tabindex: "0",
      "aria-label": `${series.map((each) => each.name.replaceAll("_", " ")).join(", ")} over time. Arrow keys read its values, Enter goes to the timeline.`,
    },
    ...[0.25, 0.5, 0.75].map((part) => svg("line", { class: "grid", x1: 0, x2: kWidth, y1: y(most * part), y2: y(most * part) })),
    ...series.flatMap((each, i) => {
      if (!each.points.length) return [];
      const line = step_path(each.points, x, y, window_ns);
      const edge = (time: number): string => `${x(time).toFixed(1)},${y(0)}`;
      const below = `M${edge(each.points[0]![0])}L${line.slice(1)}V${y(0)}Z`;
      return [
        ...(i ? [] : [svg("path", { d: below, fill: colours[i]!, "fill-opacity": "0.14" })]),
        svg("path", { d: line, fill: "none", stroke: colours[i]!, "vector-effect": "non-scaling-stroke" }),
      ];
    }),
  );
  const time_at = (event: MouseEvent): number => {
    const box = picture.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * window_ns;
  };
  const read = (time: number): void => {
    const values = series.map((each) => `${each.name.replaceAll("_", " ")} ${format.number(value_at(each.points, time), each.unit)}`);
    readout.textContent = `${format.time(time)}: ${values.join(" · ")}`;
  };
  picture.addEventListener("mousemove", (event) => read(time_at(event as MouseEvent)));
  picture.addEventListener("mouseleave", () => (readout.textContent = ""));
  if (on_click) picture.addEventListener("click", (event) => on_click(time_at(event as MouseEvent)));
  // by keyboard: the arrows read along the curve, Enter goes there
  let at = 0;
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -kReadings, End: kReadings }[event.key];
    if (step) {
      event.preventDefault();
      at = Math.min(kReadings, Math.max(0, at + step));
      read((at / kReadings) * window_ns);
    } else if (event.key === "Enter") on_click?.((at / kReadings) * window_ns);
  });
  const legend = el(
    "div",
    { class: "legend" },
    ...series.map((each, i) =>
      el("span", { class: "legend-item" }, el("i", { style: { background: colours[i]! } }), each.name.replaceAll("_", " ")),
    ),
    el("span", { class: "grow" }),
    readout,
  );
  const axis = el(
    "div",
    { class: "axis-x muted num" },
    el("span", {}, "0"),
    el("span", {}, format.time(window_ns / 2)),
    el("span", {}, format.time(window_ns)),
  );
  return el(
    "div",
    { class: "curves-box" },
    legend,
    el("div", { class: "curves-frame" }, el("span", { class: "axis-y muted num" }, format.number(most, series[0]?.unit ?? null)), picture),
    axis,
  );
}

function step_path(points: [number, number][], x: (t: number) => number, y: (v: number) => number, window_ns: number): string {
  let path = `M${x(points[0]![0]).toFixed(1)},${y(points[0]![1]).toFixed(1)}`;
  let pixel = -1;
  let low = 0;
  let high = 0;
  let last = points[0]![1];
  const flush = (): void => {
    if (pixel < 0) return;
    path += `H${(pixel / 2).toFixed(1)}`;
    if (low < last || high > last) path += `V${y(high).toFixed(1)}V${y(low).toFixed(1)}`;
    path += `V${y(last).toFixed(1)}`;
  };
  for (const [time, value] of points) {
    const at = Math.floor(x(time) * 2);
    if (at !== pixel) {
      flush();
      pixel = at;
      low = high = value;
    }
    low = Math.min(low, value);
    high = Math.max(high, value);
    last = value;
  }
  flush();
  return `${path}H${x(Math.max(window_ns, points[points.length - 1]![0])).toFixed(1)}`;
}

function value_at(points: [number, number][], time: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle]![0] <= time) low = middle + 1;
    else high = middle;
  }
  return low ? points[low - 1]![1] : 0;
}

// From `start` to `end` by steps: each bar hangs where the last one ended.
export function waterfall(
  start: { name: string; value: number },
  steps: { name: string; delta: number }[],
  end: { name: string; value: number },
  text: (value: number) => string,
): HTMLElement {
  let level = start.value;
  const spans = [{ name: start.name, from: 0, to: start.value, kind: "whole", text: text(start.value) }];
  for (const step of steps) {
    const next = level + step.delta;
    spans.push({
      name: step.name,
      from: Math.min(level, next),
      to: Math.max(level, next),
      kind: step.delta > 0 ? "worse" : "better",
      text: `${step.delta > 0 ? "+" : "−"}${text(Math.abs(step.delta))}`,
    });
    level = next;
  }
  spans.push({ name: end.name, from: 0, to: end.value, kind: "whole", text: text(end.value) });
  const most = Math.max(...spans.map((span) => span.to), 1e-12);
  return el(
    "div",
    { class: "bars waterfall", role: "list" },
    ...spans.map((span) =>
      el(
        "div",
        { class: "bars-row", role: "listitem" },
        el("span", { class: "bars-label", title: shorten(span.name, 400) }, shorten(span.name, 200)),
        el(
          "span",
          { class: "bars-track" },
          el("i", {
            class: span.kind,
            style: { "margin-left": `${(100 * span.from) / most}%`, width: `${Math.max(0.15, (100 * (span.to - span.from)) / most)}%` },
          }),
        ),
        el("span", { class: `bars-text num ${span.kind}` }, span.text),
      ),
    ),
  );
}
