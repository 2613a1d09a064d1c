// How much of its time a kernel would need at the device's peak, as a bar.
import { el } from "./dom";
import * as format from "./format";

export function roof_bar(roof_ns: number | null, time_ns: number): HTMLElement | null {
  if (roof_ns === null || time_ns <= 0) return null;
  const share = Math.min(100, (100 * roof_ns) / time_ns);
  return el(
    "div",
    { class: "roof", title: "The time that the device needs at its peak, as part of the time taken" },
    el("div", { class: "roof-bar" }, el("i", { style: { width: `${share}%` } })),
    el("small", { class: "muted" }, `roof ${format.time(roof_ns)} of ${format.time(time_ns)}: ${format.percent(share)} of the best possible`),
  );
}
