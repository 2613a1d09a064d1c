// The names of groups and tracks left of the lanes, with their buttons. Only those in sight exist.
import { button, el, fill, shorten } from "../ui/dom";
import * as format from "../ui/format";
import type { Stage } from "./stage";
import type { State } from "./state";

const kLine = 22;

export interface LabelActions {
  toggle(key: string): void;
  pin(track: number): void;
}

export function draw_labels(parent: HTMLElement, state: State, stage: Stage, actions: LabelActions): void {
  const focused = document.activeElement?.getAttribute("data-key");
  fill(
    parent,
    ...stage.visible().map(({ box, y }) => {
      const style = { top: `${y}px`, height: `${box.height}px` };
      if (box.kind === "group") {
        const key = `g:${box.group.id}`;
        return el(
          "div",
          { class: "tl-group", style },
          button(box.collapsed ? "▸" : "▾", () => actions.toggle(key), {
            class: "tl-fold",
            "aria-expanded": String(!box.collapsed),
            "aria-label": `Group ${shorten(box.group.name, 100)}`,
            "data-key": key,
          }),
          el("b", { title: shorten(box.group.name, 300) }, shorten(box.group.name, 120)),
          box.group.labels ? el("small", { class: "muted" }, shorten(box.group.labels, 60)) : null,
        );
      }
      const track = box.track!;
      const key = `t:${track.id}`;
      // the name of a tall track stays in sight while its lanes scroll by
      const above = box.pinned ? 0 : Math.max(0, Math.min(state.lanes.pinned_height - y, box.height - kLine));
      const place = { ...style, "padding-top": `${above}px` };
      const busy = state.trace.window_ns > 0 ? Math.min(100, (100 * track.busy_ns) / state.trace.window_ns) : 0;
      return el(
        "div",
        { class: `tl-track${box.pinned ? " pinned" : ""}${state.selection?.track === track.id ? " chosen" : ""}`, style: place },
        button(box.collapsed ? "▸" : "▾", () => actions.toggle(key), {
          class: "tl-fold",
          "aria-expanded": String(!box.collapsed),
          "aria-label": `Track ${shorten(track.name, 100)}`,
          "data-key": key,
        }),
        el(
          "span",
          {
            class: "tl-name",
            title: `${shorten(track.name, 300)}\n${format.count(track.slices)} slices, busy ${format.time(track.busy_ns)} (${format.percent(busy)})`,
          },
          shorten(track.name, 120),
        ),
        box.height > 18 && track.kind !== "other"
          ? el("small", { class: "muted num tl-busy", title: "Busy part of the window" }, `${Math.round(busy)} %`)
          : null,
        button(state.lanes.pinned.has(track.id) ? "★" : "☆", () => actions.pin(track.id), {
          class: "tl-pin",
          "aria-pressed": String(state.lanes.pinned.has(track.id)),
          "aria-label": `Pin ${shorten(track.name, 100)}`,
          title: "Pin to the top",
        }),
      );
    }),
  );
  parent.style.setProperty("--pinned", `${state.lanes.pinned_height}px`);
  if (focused) (parent.querySelector(`[data-key="${CSS.escape(focused)}"]`) as HTMLElement | null)?.focus();
}
