// What the mouse does on the lanes and the ruler: tells what is under it, selects a slice by a click and an area by a drag.
import { part_of } from "./alignment";
import type { Controller } from "./controller";
import { follow_pointer, type InputActions } from "./input";
import type { LaneBox } from "./lanes";
import { ruler_mark_at } from "./ruler";
import type { Stage } from "./stage";
import type { State } from "./state";
import { hover_text, mark_text, Tooltip } from "./tooltip";
import { el, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { counter_text, shown_name, value_at } from "./counters";

const kRehearsedEvery = 60; // px
const kRehearsed = 12; // slices that are hovered for nobody

export interface MouseScreen {
  retouch(): void; // what lies over the lanes has changed
  focus(): void; // the lanes take the keys
}

export class Mouse {
  readonly tooltip = new Tooltip();
  private last: MouseEvent | null = null; // the last that was heard of it on the stage

  constructor(
    private readonly state: State,
    private readonly stage: Stage,
    private readonly control: Controller,
    private readonly front: HTMLElement,
    private readonly screen: MouseScreen,
  ) {}

  get actions(): Pick<InputActions, "drag_start" | "area" | "click" | "open" | "hover" | "leave"> {
    const { state } = this;
    return {
      drag_start: () => {
        state.hovered = null;
        this.tooltip.hide();
      },
      area: (x0, y0, x1, y1, done) => this.drag_area(x0, y0, x1, y1, done),
      click: (x, y) => this.click(x, y),
      open: (x, y) => {
        if (this.stage.hit(x, y)) this.control.fit();
      },
      hover: (x, y, event) => this.hover(x, y, event),
      leave: () => this.leave(),
    };
  }

  listen_to_ruler(ruler: HTMLElement, signal: AbortSignal): void {
    ruler.addEventListener("mousemove", (event) => this.hover_ruler(event), { signal });
    ruler.addEventListener("mouseleave", () => this.tooltip.hide(), { signal });
    ruler.addEventListener("pointerdown", (event) => this.drag_ruler(ruler, event), { signal });
  }

  // Looks and words of the first hover, shown to nobody: fonts are found and code is compiled before the mouse comes.
  rehearse(): void {
    const { last, state } = this;
    let left = kRehearsed;
    for (let y = 0; y < this.stage.height; y += kRehearsedEvery)
      for (let x = 0; x < state.view.width; x += kRehearsedEvery) {
        if (!left || !this.stage.hit(x, y)) continue;
        left -= 1;
        this.hover(x, y, new MouseEvent("mousemove", { clientX: x, clientY: y }));
      }
    this.leave();
    this.last = last;
    this.look_again();
  }

  private leave(): void {
    const { state } = this;
    state.hovered = null;
    state.cursor = null;
    this.last = null;
    this.tooltip.hide();
    this.front.classList.remove("over");
    this.screen.retouch();
  }

  // Without a move of the mouse another slice may have come to lie under it.
  look_again(): void {
    if (!this.last || this.last.buttons) return;
    const box = this.front.getBoundingClientRect();
    this.hover(this.last.clientX - box.left, this.last.clientY - box.top, this.last);
  }

  // On the ruler a drag selects a time of all tracks.
  private drag_ruler(ruler: HTMLElement, event: PointerEvent): void {
    if (event.button !== 0) return;
    const from = event.offsetX;
    const all = (x: number, done: boolean): void => this.drag_area(from, -Infinity, x, Infinity, done);
    follow_pointer(ruler, event, { move: (x) => all(x, false), end: (x, _y, dragged) => dragged && all(x, true) });
  }

  private hover_ruler(event: MouseEvent): void {
    const mark = event.buttons ? null : ruler_mark_at(this.state, event.offsetX);
    if (mark) this.tooltip.show(event.clientX, event.clientY, ...mark_text(mark));
    else this.tooltip.hide();
  }

  private hover(x: number, y: number, event: MouseEvent): void {
    const { state } = this;
    state.cursor = x;
    this.last = event;
    if (event.buttons) return this.screen.retouch();
    const mark = this.stage.mark_at(x, y);
    state.hovered = mark ? null : this.stage.hit(x, y);
    this.front.classList.toggle("over", Boolean(mark ?? state.hovered));
    const text = mark ? mark_text(mark) : state.hovered ? [...hover_text(state.hovered), this.trace_text(state.hovered.track)] : this.counter_text(x, y);
    if (text) this.tooltip.show(event.clientX, event.clientY, ...text);
    else this.tooltip.hide();
    this.screen.retouch();
  }

  private trace_text(track: number): Child {
    const part = this.state.alignment && part_of(this.state.alignment, track);
    return part ? el("div", { class: "muted" }, shorten(`${part.label} · ${part.trace.name}`, 100)) : null;
  }

  private counter_text(x: number, y: number): Child[] | null {
    const counter = this.stage.counter_at(y);
    if (!counter) return null;
    const value = value_at(counter, this.state.view.time(x));
    return [el("b", {}, shown_name(counter)), el("div", {}, value === null ? format.kUnknown : format.number(value, counter.unit)), el("div", { class: "muted" }, counter_text(counter))];
  }

  private click(x: number, y: number): void {
    this.screen.focus();
    const mark = this.stage.mark_at(x, y);
    if (mark?.id !== null && mark?.id !== undefined) return void this.control.select(mark.id);
    if (mark) return this.control.select_area({ from: mark.start_ns, to: mark.start_ns + mark.dur_ns, tracks: [] });
    const hit = this.stage.hit(x, y);
    this.state.area = null;
    void this.control.select(hit?.id ?? null);
  }

  private drag_area(x0: number, y0: number, x1: number, y1: number, done: boolean): void {
    const { view, lanes } = this.state;
    const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
    const whole = top === -Infinity;
    const under = (box: LaneBox, y: number): boolean => box.kind === "track" && box.track!.id >= 0 && y < bottom && y + box.height > top;
    const boxes = this.stage.visible().filter(({ box, y }) => under(box, y));
    const tracks = whole ? lanes.chosen : boxes.map(({ box }) => box.track!.id);
    const from = Math.max(0, Math.round(view.time(Math.min(x0, x1))));
    const to = Math.min(view.window_ns, Math.round(view.time(Math.max(x0, x1))));
    const area = { from, to: Math.max(from + 1, to), tracks: tracks.length === lanes.sliced.length ? [] : tracks };
    if (done) return this.control.select_area(area);
    this.state.area = area;
    this.screen.retouch();
  }
}
