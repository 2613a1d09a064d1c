// A small box beside the mouse. Used by the timeline and by the roofline.
import type { Mark } from "../api/types";
import { el, fill, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { kMarkNames, type Hovered } from "./state";

export class Tooltip {
  readonly element = el("div", { class: "tooltip", hidden: true, role: "tooltip" });

  // On the side where there is more room, so that nothing need be measured: that would lay out the page within a move of the mouse.
  show(x: number, y: number, ...content: Child[]): void {
    this.fill(...content);
    this.element.hidden = false;
    const left = x > innerWidth / 2;
    const above = y > innerHeight / 2;
    const { style } = this.element;
    style.setProperty("left", left ? "auto" : `${x + 14}px`);
    style.setProperty("right", left ? `${innerWidth - x + 10}px` : "auto");
    style.setProperty("top", above ? "auto" : `${y + 16}px`);
    style.setProperty("bottom", above ? `${innerHeight - y + 10}px` : "auto");
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
