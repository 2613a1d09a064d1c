// The names of groups and tracks left of the lanes, with their buttons. They stand in the order of the screen and are moved together: a frame that
// scrolls changes how far, and styles and lays out nothing. Those around what is in sight are made while the view rests; those out of sight are kept,
// and the Tab key passes them by.
import { button, el, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { counter_text } from "./counters";
import type { LaneBox } from "./lanes";
import type { Stage } from "./stage";
import type { State } from "./state";

const kLine = 22;
const kKept = 200; // labels, in sight or not
const kMadeAFrame = 2; // new labels: each is styled, laid out and shaped
const kAround = 1; // screens above and below whose labels are made while the view rests

export interface LabelActions {
  toggle(key: string): void;
  pin(track: number): void;
}

interface Label {
  node: HTMLElement;
  line: HTMLElement; // what the node holds
  box: LaneBox; // what it names
  chosen: boolean; // the selection is there
  looks: string; // what it was made of
  y: number;
  above: number; // px by which the line is moved down
  reached: boolean; // by the Tab key
}

export class Labels {
  private readonly moving = el("div", { class: "tl-moving" });
  private readonly pinned = el("div", { class: "tl-pinned" });
  readonly element = el("div", { class: "tl-labels", role: "group", "aria-label": "Tracks" }, this.pinned, this.moving);
  private readonly known = new Map<string, Label>();
  private version = -1; // of the lanes that were drawn
  private moved = ""; // how far the labels that scroll are moved

  constructor(
    private readonly state: State,
    private readonly stage: Stage,
    private readonly actions: LabelActions,
  ) {}

  // True: there are more to make, in the next frame.
  draw(): boolean {
    const { lanes, scroll, moving } = this.state;
    const seen = this.stage.visible();
    this.left = kMadeAFrame;
    const moved = `translateY(${lanes.pinned_height - scroll}px)`;
    if (this.moved !== moved) this.moving.style.setProperty("transform", (this.moved = moved));
    for (const { box, y } of seen) this.label(box, y);
    const around = moving ? [] : this.around();
    for (const box of around) this.label(box, lanes.pinned_height + box.y - scroll);
    if (!moving || this.version !== lanes.version) this.tidy(new Set(seen.map(({ box }) => box.key)), new Set(around.map(({ key }) => key)));
    return this.left < 0;
  }
  private left = 0; // labels that this frame may still make; below 0 there was one too many

  private around(): LaneBox[] {
    const { lanes, scroll } = this.state;
    const reach = this.stage.height * kAround;
    return lanes.boxes.filter((box) => box.y + box.height > scroll - reach && box.y < scroll + this.stage.height + reach).slice(0, kKept / 2);
  }

  // Forgets what is gone or too much, and lets the Tab key reach what is in sight.
  private tidy(seen: Set<string>, around: Set<string>): void {
    const { lanes } = this.state;
    const elsewhere = this.version !== lanes.version; // whatever is out of sight may be gone
    this.version = lanes.version;
    for (const [key, label] of this.known) {
      const shown = seen.has(key);
      if (!shown && !around.has(key) && (elsewhere || this.known.size > kKept)) {
        label.node.remove();
        this.known.delete(key);
      } else if (label.reached !== shown) {
        label.reached = shown;
        for (const each of label.node.querySelectorAll("button")) each.tabIndex = shown ? 0 : -1;
      }
    }
  }

  private label(box: LaneBox, y: number): void {
    let label = this.known.get(box.key);
    if (!label && --this.left < 0) return;
    const chosen = box.track !== null && this.state.selection?.track === box.track.id;
    if (label?.box !== box || label.chosen !== chosen) label = this.renew(box, chosen, label);
    // the name of a tall track stays in sight while its lanes scroll by
    const above = box.pinned || box.kind === "group" ? 0 : Math.max(0, Math.min(this.state.lanes.pinned_height - y, box.height - kLine));
    if (label.above === above) return;
    label.above = above;
    label.line.style.setProperty("transform", `translateY(${above}px)`);
  }

  // The label of a box in another arrangement; made anew when it looks different or stands elsewhere.
  private renew(box: LaneBox, chosen: boolean, old: Label | undefined): Label {
    const looks = [box.collapsed, box.height, this.state.lanes.pinned.has(box.track?.id ?? -1), chosen].join();
    if (old?.looks !== looks || old.y !== box.y) return this.make(box, chosen, looks, old);
    old.box = box;
    old.chosen = chosen;
    return old;
  }

  private make(box: LaneBox, chosen: boolean, looks: string, old: Label | undefined): Label {
    const line = el("div", { class: "tl-line" }, ...(box.kind === "group" ? this.group(box) : this.track(box)));
    const node = el(
      "div",
      { class: `tl-${box.kind}${box.pinned ? " pinned" : ""}${chosen ? " chosen" : ""}`, style: { height: `${box.height}px`, top: `${box.y}px` } },
      line,
    );
    const focused = old?.node.contains(document.activeElement) ? document.activeElement!.className : "";
    old?.node.remove();
    this.insert(node, box);
    if (focused) (node.querySelector(`.${focused}`) as HTMLElement | null)?.focus();
    const label = { node, line, box, chosen, looks, y: box.y, above: 0, reached: true };
    this.known.set(box.key, label);
    return label;
  }

  // In the order of the screen, as the Tab key walks.
  private insert(node: HTMLElement, box: LaneBox): void {
    const parent = box.pinned ? this.pinned : this.moving;
    let next: Label | null = null;
    for (const each of this.known.values())
      if (each.node.parentElement === parent && each.y > box.y && (!next || each.y < next.y)) next = each;
    parent.insertBefore(node, next?.node ?? null);
  }

  private group(box: LaneBox): Child[] {
    const { group } = box;
    return [
      this.fold(box, `g:${group.id}`, `Group ${shorten(group.name, 100)}`),
      el("b", { title: shorten(group.name, 300) }, shorten(group.name, 120)),
      group.labels ? el("small", { class: "muted", title: shorten(group.labels, 300) }, shorten(group.labels, 60)) : null,
    ];
  }

  private track(box: LaneBox): Child[] {
    const { state } = this;
    const track = box.track!;
    const pinned = state.lanes.pinned.has(track.id);
    const window_ns = track.window_ns ?? state.trace.window_ns;
    const busy = window_ns > 0 ? Math.min(100, (100 * track.busy_ns) / window_ns) : 0;
    const counter = track.id < 0 ? state.counters[-1 - track.id] : undefined;
    const said = counter ? counter_text(counter) : `${format.count(track.slices)} slices, busy ${format.time(track.busy_ns)} (${format.percent(busy)})`;
    const about = `${shorten(track.name, 300)}\n${said}`;
    return [
      this.fold(box, `t:${track.id}`, `Track ${shorten(track.name, 100)}`),
      el("span", { class: "tl-name", title: about }, shorten(track.name, 120)),
      box.height > 18 && track.kind !== "other"
        ? el("small", { class: "muted num tl-busy", title: "Busy part of the window" }, `${Math.round(busy)} %`)
        : null,
      button(pinned ? "★" : "☆", () => this.actions.pin(track.id), {
        class: "tl-pin",
        "aria-pressed": String(pinned),
        "aria-label": `Pin ${shorten(track.name, 100)}`,
        title: "Pin to the top",
      }),
    ];
  }

  private fold(box: LaneBox, key: string, label: string): HTMLElement {
    return button(box.collapsed ? "▸" : "▾", () => this.actions.toggle(key), {
      class: "tl-fold",
      "aria-expanded": String(!box.collapsed),
      "aria-label": label,
    });
  }
}
