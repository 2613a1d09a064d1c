// The box below the lanes that shows the selected slice or area. Its upper edge can be dragged.
import { el, fill } from "../ui/dom";
import { kernel_link } from "../ui/links";
import { area_panel } from "./area_panel";
import { claim_panel } from "./claim_panel";
import { details } from "./details";
import type { State } from "./state";

const kLeast = 90; // px
const kMost = 0.7; // of the window
const kStep = 40; // px, of an arrow key

export interface PanelActions {
  select(id: number): void;
  fit(): void;
  find(text: string): void;
  show(from: number, to: number): void;
  close_claim(): void;
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
      const actions = {
        select: (id: number) => this.actions.select(id),
        frame: () => this.actions.fit(),
        search: (text: string) => this.actions.find(text),
        track_name: (id: number) => lanes.find(id)?.name ?? String(id),
        kernel_page: (name: string) => (source.has("kernel", { name, t }) ? kernel_link(t, name) : null),
      };
      fill(this.body, details(selection, lanes.find(selection.track), actions));
      this.body.scrollTop = 0;
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
        area_panel(area!, answer, () => this.actions.fit(), find),
      );
    } catch (error) {
      if (!control.signal.aborted) fill(this.body, el("p", { class: "muted" }, (error as Error).message));
    }
  }

  private splitter(): HTMLElement {
    const grip = el("div", {
      class: "tl-splitter",
      role: "separator",
      tabindex: "0",
      "aria-orientation": "horizontal",
      "aria-label": "Height of the details",
    });
    const resize = (height: number): void => {
      this.element.style.setProperty("height", `${Math.min(innerHeight * kMost, Math.max(kLeast, height))}px`);
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
