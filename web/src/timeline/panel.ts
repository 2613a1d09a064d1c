// The box below the lanes that shows the selected slice or area. Its upper edge can be dragged.
import { el, fill } from "../ui/dom";
import { flame } from "../ui/flame";
import * as format from "../ui/format";
import { kernel_link } from "../ui/links";
import { link } from "../ui/router";
import { flame_tree } from "./area_flame";
import { area_panel } from "./area_panel";
import { claim_panel } from "./claim_panel";
import { details } from "./details";
import { meeting_panel } from "./meeting_panel";
import type { Area, State } from "./state";

const kLeast = 90; // px
const kMost = 0.7; // of the window
const kStep = 40; // px, of an arrow key

export interface PanelActions {
  select(id: number): void;
  fit(): void;
  find(text: string): void;
  show(from: number, to: number): void;
  close_claim(): void;
  stack(ranks: number[]): void; // shows these ranks of the job on one clock
}

export class Panel {
  readonly element: HTMLElement;
  private readonly body = el("div", { class: "tl-panel-body" });
  private under_way: AbortController | null = null;

  constructor(
    private readonly state: State,
    private readonly actions: PanelActions,
  ) {
    this.element = el("section", { class: "tl-panel", hidden: true, "aria-label": "Details" }, this.splitter(), this.body);
  }

  show(): void {
    const { selection, area, claim, lanes, source, t } = this.state;
    this.under_way?.abort();
    this.element.hidden = !selection && !area && !claim;
    if (selection) {
      const own = selection.of?.t ?? t;
      const actions = {
        select: (id: number) => this.actions.select(id),
        frame: () => this.actions.fit(),
        search: (text: string) => this.actions.find(text),
        track_name: (id: number) => lanes.find(id)?.name ?? String(id),
        kernel_page: (name: string) => (source.has("kernel", { name, t: own }) ? kernel_link(own, name) : null),
      };
      const { meeting } = this.state;
      const met = meeting?.of === selection.id ? meeting_panel(meeting, { select: this.actions.select, stack: this.actions.stack }) : null;
      fill(this.body, details(selection, lanes.find(selection.track), actions, met));
      if (!met) this.body.scrollTop = 0; // else more has come of what is shown
    } else if (area) void this.show_area();
    else if (claim) {
      const { show, select, close_claim } = this.actions;
      fill(this.body, claim_panel(claim, { show, select, close: close_claim }));
    }
  }

  close(): void {
    this.under_way?.abort();
  }

  private async show_area(): Promise<void> {
    const { area, source, t } = this.state;
    const control = (this.under_way = new AbortController());
    try {
      const answer = await source.area(t, Math.round(area!.from), Math.round(area!.to), area!.tracks, control.signal);
      if (control.signal.aborted) return;
      const find = (name: string): void => this.actions.find(name);
      fill(
        this.body,
        area_panel(area!, answer, { zoom: () => this.actions.fit(), search: find, flame: source.fixed ? null : () => this.flame_of(area!), scope: this.scope_link(area!) }),
      );
    } catch (error) {
      if (!control.signal.aborted) fill(this.body, el("p", { class: "muted" }, (error as Error).message));
    }
  }

  private async flame_of({ from, to, tracks }: Area): Promise<HTMLElement> {
    const { source, t, lanes } = this.state;
    const answer = await source.flame(t, Math.round(from), Math.round(to), tracks);
    if (!answer.nodes.length) return el("p", { class: "muted" }, "Nothing lies in this area.");
    const left_out = answer.left_out ? el("p", { class: "muted" }, `The ${format.count(answer.left_out)} smallest parts are left out.`) : null;
    const tree = flame_tree(answer, (id) => lanes.find(id)?.name ?? `track ${id}`);
    return el("div", {}, flame(tree, "Calls in the area"), left_out);
  }

  private scope_link({ from, to }: Area): string | null {
    const { source, t, alignment } = this.state;
    if (source.fixed || alignment) return null; // every page shows one trace
    const ms = (ns: number): string => (Math.round(Math.max(0, ns)) / 1e6).toFixed(6).replace(/\.?0+$/, "");
    return link("summary", { t: t || null, step: null, from: ms(from), to: ms(to) });
  }

  private splitter(): HTMLElement {
    const grip = el("div", {
      class: "tl-splitter",
      role: "separator",
      tabindex: "0",
      "aria-orientation": "horizontal",
      "aria-label": "Height of the details",
      "aria-valuemin": "0",
      "aria-valuemax": "100",
      "aria-valuenow": "30", // percent of the window
    });
    const resize = (height: number): void => {
      const bounded = Math.min(innerHeight * kMost, Math.max(kLeast, height));
      this.element.style.setProperty("height", `${bounded}px`);
      grip.setAttribute("aria-valuenow", String(Math.round((100 * bounded) / Math.max(1, innerHeight))));
    };
    grip.addEventListener("keydown", (event) => {
      const step = { ArrowUp: kStep, ArrowDown: -kStep }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      resize(this.element.getBoundingClientRect().height + step);
    });
    grip.addEventListener("pointerdown", (event) => {
      grip.setPointerCapture(event.pointerId);
      const { bottom } = this.element.getBoundingClientRect();
      grip.onpointermove = (move) => resize(bottom - move.clientY);
      grip.onpointerup = grip.onpointercancel = () => {
        grip.onpointermove = null;
      };
    });
    return grip;
  }
}
