// A small box beside the mouse. Used by the timeline and by the roofline.
import type { Mark } from "../api/types";
import { el, fill, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { kMarkNames, type Hovered } from "./state";

export class Tooltip {
  readonly element = el("div", { class: "tooltip", hidden: true, role: "tooltip" });

  // On the side where there is more room, so that nothing need be measured: that would lay out the page within a move of the mouse.
  show(x: number, y: number, ...content: Child[]): void {
    const left = x > innerWidth / 2;
    const above = y > innerHeight / 2;
    this.fill(...content);
    const across = left ? `calc(${Math.round(x - 10)}px - 100%)` : `${Math.round(x + 14)}px`;
    const down = above ? `calc(${Math.round(y - 10)}px - 100%)` : `${Math.round(y + 16)}px`;
    this.element.style.setProperty("transform", `translate(${across}, ${down})`);
    this.element.hidden = false;
  }
  fill(...content: Child[]): void {
    fill(this.element, ...content);
  }
  hide(): void {
    if (!this.element.hidden) this.element.hidden = true;
  }
}

export function mark_text(mark: Mark): Child[] {
  return [
    el("b", {}, kMarkNames[mark.kind]),
    el("div", {}, shorten(mark.label, 300)),
    el("div", { class: "muted" }, format.time(mark.dur_ns)),
  ];
}

export function hover_text(hovered: Hovered): Child[] {
  if (hovered.count === 1 && hovered.share === 1)
    return [el("b", { class: "code" }, shorten(hovered.name, 300)), el("div", {}, format.time(hovered.end - hovered.start))];
  return [
    el("b", { class: "code" }, shorten(hovered.name, 300)),
    el("div", {}, hovered.count > 1 ? `and ${format.count(hovered.count - 1)} more in this pixel` : "shorter than a pixel"),
    el("div", { class: "muted" }, `${format.percent(100 * hovered.share)} of ${format.time(hovered.end - hovered.start)} busy`),
  ];
}
