// The names of groups and tracks left of the lanes, with their buttons, made when they first come into sight. While the lanes scroll they are moved
// together, and those out of sight are hidden and kept: what a browser has to style is one element and the names that come and go.
import { button, el, shorten } from "../ui/dom";
import * as format from "../ui/format";
import type { LaneBox } from "./lanes";
import type { Stage } from "./stage";
import type { State } from "./state";

const kLine = 22;
const kKept = 200; // labels, in sight or not
const kMadeAFrame = 2; // new labels: each is styled, laid out and shaped

export interface LabelActions {
  toggle(key: string): void;
  pin(track: number): void;
}

interface Label {
  node: HTMLElement;
  looks: string; // what it was made of
  place: string;
  hidden: boolean;
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
    const seen = this.stage.visible();
    this.left = kMadeAFrame;
    const keys = new Set(seen.map(({ box }) => key_of(box)));
    const { lanes, scroll } = this.state;
    const elsewhere = this.version !== lanes.version; // whatever is out of sight may be gone
    this.version = lanes.version;
    for (const [key, label] of this.known) {
      if (keys.has(key)) continue;
      if (elsewhere || this.known.size > kKept) {
        label.node.remove();
        this.known.delete(key);
      } else {
        hide(label, true);
      }
    }
    const moved = `translateY(${lanes.pinned_height - scroll}px)`;
    if (this.moved !== moved) this.moving.style.setProperty("transform", (this.moved = moved));
    const made = (pinned: boolean): HTMLElement[] => seen.flatMap(({ box, y }) => (box.pinned === pinned ? (this.label(box, y)?.node ?? []) : []));
    return put(this.pinned, made(true)) + put(this.moving, made(false)) < seen.length;
  }
  private left = 0; // labels that this frame may still make

  private label(box: LaneBox, y: number): Label | null {
    const key = key_of(box);
    const looks = this.looks(box);
    let label = this.known.get(key);
    if (!label && --this.left < 0) return null;
    if (label?.looks !== looks) {
      const node = box.kind === "group" ? this.group(box) : this.track(box);
      const focused = label?.node.contains(document.activeElement) ? document.activeElement!.className : "";
      label?.node.replaceWith(node);
      if (focused) (node.querySelector(`.${focused}`) as HTMLElement | null)?.focus();
      label = { node, looks, place: "", hidden: false };
      this.known.set(key, label);
    }
    hide(label, false);
    // the name of a tall track stays in sight while its lanes scroll by
    const above = box.pinned || box.kind === "group" ? 0 : Math.max(0, Math.min(this.state.lanes.pinned_height - y, box.height - kLine));
    const place = `${box.y}/${above}`;
    if (label.place !== place) {
      label.place = place;
      label.node.style.setProperty("top", `${box.y}px`);
      label.node.style.setProperty("padding-top", `${above}px`);
    }
    return label;
  }

  private looks(box: LaneBox): string {
    const { lanes, selection } = this.state;
    const track = box.track?.id ?? -1;
    return [box.collapsed, box.height, lanes.pinned.has(track), selection?.track === track].join();
  }

  private group(box: LaneBox): HTMLElement {
    const { group } = box;
    return el(
      "div",
      { class: "tl-group", style: { height: `${box.height}px` } },
      this.fold(box, `g:${group.id}`, `Group ${shorten(group.name, 100)}`),
      el("b", { title: shorten(group.name, 300) }, shorten(group.name, 120)),
      group.labels ? el("small", { class: "muted", title: shorten(group.labels, 300) }, shorten(group.labels, 60)) : null,
    );
  }

  private track(box: LaneBox): HTMLElement {
    const { state } = this;
    const track = box.track!;
    const pinned = state.lanes.pinned.has(track.id);
    const busy = state.trace.window_ns > 0 ? Math.min(100, (100 * track.busy_ns) / state.trace.window_ns) : 0;
    const about = `${shorten(track.name, 300)}\n${format.count(track.slices)} slices, busy ${format.time(track.busy_ns)} (${format.percent(busy)})`;
    return el(
      "div",
      {
        class: `tl-track${box.pinned ? " pinned" : ""}${state.selection?.track === track.id ? " chosen" : ""}`,
        style: { height: `${box.height}px` },
      },
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
    );
  }

  private fold(box: LaneBox, key: string, label: string): HTMLElement {
    return button(box.collapsed ? "▸" : "▾", () => this.actions.toggle(key), {
      class: "tl-fold",
      "aria-expanded": String(!box.collapsed),
      "aria-label": label,
    });
  }
}

// What is hidden takes no focus.
function hide(label: Label, hidden: boolean): void {
  if (label.hidden === hidden) return;
  label.hidden = hidden;
  label.node.style.setProperty("visibility", hidden ? "hidden" : "visible");
}

// Puts the nodes in their place, in the order of the screen, as the Tab key walks; returns how many they are.
function put(parent: HTMLElement, nodes: HTMLElement[]): number {
  let next = parent.firstElementChild as HTMLElement | null;
  for (const node of nodes) {
    while (next && next !== node && next.style.visibility === "hidden") next = next.nextElementSibling as HTMLElement | null;
    if (node === next) next = next.nextElementSibling as HTMLElement | null;
    else parent.insertBefore(node, next);
  }
  return nodes.length;
}

const key_of = (box: LaneBox): string => (box.track ? `${box.pinned ? "p" : "t"}:${box.track.id}` : `g:${box.group.id}`);
