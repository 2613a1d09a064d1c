// The row above the timeline: search with its hit count, what the marks mean, modes, zoom.
import { button, el } from "../ui/dom";
import type { Controller } from "./controller";
import { kMarkColours, kMarkNames, kMarkWords, type State } from "./state";

const kZoom = 1.6; // one press of + or −
const kFelt_ms = 250;

export interface ToolbarActions {
  redraw(): void;
  moving(on: boolean): void; // what dragging does
  help(): void;
  align: (HTMLElement | null)[]; // the buttons that show other traces too
}

export class Toolbar {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  private readonly count = el("span", { class: "muted num tl-count", "aria-live": "polite" });
  private readonly status = el("span", { class: "muted tl-status", "aria-live": "polite" });

  constructor(
    private readonly state: State,
    private readonly control: Controller,
    private readonly actions: ToolbarActions,
  ) {
    this.search = el("input", {
      class: "input",
      type: "search",
      placeholder: "Search names ( / )",
      "aria-label": "Search slices by name",
      spellcheck: "false",
      on: { input: () => control.search(this.search.value, false), keydown: (event: KeyboardEvent) => this.key(event) },
    });
    const small = { class: "btn small" };
    this.element = el(
      "div",
      { class: "tl-tools" },
      this.search,
      this.count,
      button("‹", () => void control.walk(-1), { ...small, "aria-label": "Previous hit" }),
      button("›", () => void control.walk(1), { ...small, "aria-label": "Next hit" }),
      this.status,
      this.kinds(),
      this.marks(),
      this.mode(),
      ...actions.align,
      button("−", () => control.zoom(kZoom, null), { ...small, "aria-label": "Zoom out", title: "s" }),
      button("+", () => control.zoom(1 / kZoom, null), { ...small, "aria-label": "Zoom in", title: "w" }),
      button("Fit", () => control.whole(), { ...small, title: "The whole trace" }),
      button("Collapse", () => control.collapse_all(), { ...small, title: "c" }),
      button("?", () => actions.help(), { ...small, "aria-label": "Keys" }),
    );
  }

  found(text: string): void {
    this.count.textContent = text;
  }
  // What went wrong; stays until something else is selected.
  say(text: string): void {
    this.said = text;
    this.show_status(text);
  }
  // Told every frame. Only a wait that can be felt is shown, and not within a frame: it lays out the row anew.
  loading(on: boolean): void {
    if (on === this.waits) return;
    this.waits = on;
    this.since = performance.now();
    if (!this.timer && (on || this.told)) this.look_in(on ? kFelt_ms : 0);
  }
  // One timer for however many waits: most are over before they can be felt.
  private look_in(wait_ms: number): void {
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      const left = this.waits ? this.since + kFelt_ms - performance.now() : 0;
      if (left > 1) return this.look_in(left);
      this.told = this.waits;
      this.show_status(this.said || (this.told ? "loading…" : ""));
    }, wait_ms);
  }
  close(): void {
    clearTimeout(this.timer);
  }
  private said = "";
  private waits = false;
  private since = 0; // ms: when that began or ended
  private told = false; // that it waits is shown
  private timer = 0;
  private show_status(text: string): void {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  private kinds(): HTMLElement {
    const kinds = [...new Set(this.state.marks.map((mark) => mark.kind))].filter((kind) => kind !== "iteration");
    const item = (kind: (typeof kinds)[number]): HTMLElement =>
      el("span", { class: "legend-item", title: kind === "critical" ? "what a step waits for last, from its end back to its start" : `${kMarkNames[kind]}s` }, el("i", { style: { background: kMarkColours[kind] } }), kMarkWords[kind]);
    return el("span", { class: "legend tl-kinds" }, ...kinds.map(item));
  }

  private marks(): HTMLElement {
    const title = "Breaks, recompiles, sync points and gaps on the lanes";
    return toggle("Marks", title, this.state.show_marks, (on) => {
      this.state.show_marks = on;
      this.actions.redraw();
    });
  }

  private mode(): HTMLElement {
    return toggle("Drag pans", "Dragging pans the view instead of selecting an area; Shift does the opposite", !this.state.selecting, (on) => {
      this.state.selecting = !on;
      this.actions.moving(on);
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      event.preventDefault();
      if (this.state.hits && this.state.query === this.search.value) void this.control.walk(event.shiftKey ? -1 : 1);
      else this.control.search(this.search.value, true);
    } else if (event.key === "Escape") {
      this.search.value = "";
      this.control.search("", false);
      this.search.blur();
    }
  }
}

function toggle(label: string, title: string, on: boolean, changed: (on: boolean) => void): HTMLElement {
  const made = button(
    label,
    () => {
      on = !on;
      made.setAttribute("aria-pressed", String(on));
      changed(on);
    },
    { class: "btn small", "aria-pressed": String(on), title },
  );
  return made;
}
