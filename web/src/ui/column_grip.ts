// The edge of a column's head that widens it: dragged, by Shift and the arrow keys on the head's button, and back by a double click.
import { el } from "./dom";

const kLeast = 40; // px
const kMost = 2000;
const kStep = 16; // px of one press

export type Resize = (px: number | null) => void; // null: as wide as at first

export function column_grip(head: () => HTMLElement, resize: Resize): HTMLElement {
  const bounded = (px: number): number => Math.round(Math.min(kMost, Math.max(kLeast, px)));
  const grip = el("span", { class: "t-grip", "aria-hidden": "true", title: "Drag to resize; double click: as at first" });
  grip.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const [x, width] = [event.clientX, head().getBoundingClientRect().width];
    grip.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent): void => resize(bounded(width + moved.clientX - x));
    grip.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) grip.addEventListener(end, () => grip.removeEventListener("pointermove", move), { once: true });
  });
  grip.addEventListener("dblclick", () => resize(null));
  grip.addEventListener("click", (event) => event.stopPropagation());
  return grip;
}

export function resize_by_key(event: KeyboardEvent, head: HTMLElement, resize: Resize): void {
  const step = { ArrowLeft: -kStep, ArrowRight: kStep }[event.key];
  if (!event.shiftKey || step === undefined) return;
  event.preventDefault();
  resize(Math.round(Math.min(kMost, Math.max(kLeast, head.getBoundingClientRect().width + step))));
}
