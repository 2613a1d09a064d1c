// The timeline page: puts the parts of ../timeline together and connects them with the mouse, the keys and the URL.
import { Controller, type Screen } from "../timeline/controller";
import { help_dialog } from "../timeline/help";
import { follow_pointer, Input } from "../timeline/input";
import { keys } from "../timeline/keys";
import { Labels } from "../timeline/labels";
import { Lanes, type LaneBox } from "../timeline/lanes";
import { Minimap } from "../timeline/minimap";
import { Overlay } from "../timeline/overlay";
import { Panel } from "../timeline/panel";
import { draw_ruler, kRulerHeight, ruler_mark_at } from "../timeline/ruler";
import { kRefine_ms, Stage } from "../timeline/stage";
import type { State } from "../timeline/state";
import { TileStore } from "../timeline/tiles";
import { TrackFinder } from "../timeline/track_finder";
import { Toolbar } from "../timeline/toolbar";
import { hover_text, mark_text, Tooltip } from "../timeline/tooltip";
import { View } from "../timeline/view";
import type { TrackGroup } from "../api/types";
import { el } from "../ui/dom";
import { Paints } from "../ui/palette";
import { here } from "../ui/router";
import { publish, withdraw } from "../ui/shown";
import type { Context, Page } from "./page";

const kLabels = 232; // width of the names

// Devices first: that is where the time is looked for. Otherwise the trace's own order.
function ordered(groups: TrackGroup[]): TrackGroup[] {
  return [...groups.filter((group) => group.kind === "device"), ...groups.filter((group) => group.kind !== "device")];
}

class TimelinePage implements Page, Screen {
  readonly element: HTMLElement;
  private readonly state: State;
  private readonly stage: Stage;
  private readonly overlay: Overlay;
  private readonly control: Controller;
  private readonly minimap: Minimap;
  private readonly tooltip = new Tooltip();
  private readonly ruler = el("canvas", { class: "tl-ruler" });
  private readonly labels: Labels;
  private readonly finder: TrackFinder;
  private readonly sizer = el("div", { class: "tl-sizer" });
  private readonly toolbar: Toolbar;
  private readonly scroll: HTMLElement;
  private readonly front: HTMLElement;
  private readonly panel_box: Panel;
  private readonly closed = new AbortController();
  private dirty = { lanes: true, ruler: true, overlay: true, labels: true };
  private frame = 0;
  private mouse: MouseEvent | null = null; // the last that was heard of it on the stage

  constructor(
    private readonly context: Context,
    groups: TrackGroup[],
    marks: State["marks"],
  ) {
    const paints = new Paints();
    const view = new View(context.trace.window_ns);
    const came = (track: number): void => {
      this.stage.came(track);
      this.refine();
    };
    const missing = (): void => {
      this.stage.forget();
      this.redraw();
    };
    const tiles = new TileStore(context.source, context.t, context.trace.window_ns, paints, came, missing);
    this.state = {
      source: context.source,
      t: context.t,
      trace: context.trace,
      view,
      lanes: new Lanes(ordered(groups)),
      tiles,
      paints,
      marks,
      notes: [],
      selection: null,
      area: null,
      hovered: null,
      cursor: null,
      query: "",
      hits: null,
      hit: -1,
      selecting: true,
      moving: false,
      scroll: 0,
      show_marks: true,
    };
    this.stage = new Stage(this.state);
    this.overlay = new Overlay(this.state, this.stage);
    this.control = new Controller(this.state, this);
    this.labels = new Labels(this.state, this.stage, {
      toggle: (key) => this.control.toggle(key),
      pin: (track) => this.control.pin(track),
    });
    this.finder = new TrackFinder(this.state.lanes, this.control, () => this.scroll.focus({ preventScroll: true }));
    this.minimap = new Minimap(this.state, () => this.control.moved());
    this.toolbar = new Toolbar(this.state, this.control, {
      redraw: () => this.redraw(),
      moving: (on) => this.front.classList.toggle("moves", on),
      help: () => this.help(),
    });
    this.panel_box = new Panel(this.state, {
      select: (id) => void this.control.select(id, true),
      fit: () => this.control.fit(),
      find: (text) => this.find(text),
    });
    this.front = el("div", { class: "tl-front", style: { left: `${kLabels}px` } }, this.stage.canvas, this.overlay.canvas);
    const sticky = el("div", { class: "tl-stage" }, this.labels.element, this.front);
    this.scroll = el(
      "div",
      {
        class: "tl-scroll",
        tabindex: "0",
        role: "application",
        "aria-label": "Timeline. Press ? for the keys.",
        on: { scroll: () => this.scrolled() },
      },
      sticky,
      this.sizer,
    );
    this.element = el(
      "div",
      { class: "timeline" },
      this.toolbar.element,
      el("div", { class: "tl-over", style: { "padding-left": `${kLabels}px` } }, this.finder.element, this.minimap.canvas, this.ruler),
      this.scroll,
      this.panel_box.element,
      this.tooltip.element,
    );
    this.listen();
  }

  private listen(): void {
    const { signal } = this.closed;
    const size = new ResizeObserver(() => this.resized());
    size.observe(this.scroll);
    signal.addEventListener("abort", () => size.disconnect());
    window.addEventListener("ridge-theme", () => (this.redraw(), this.retouch()), { signal });
    const { control, state } = this;
    this.ruler.addEventListener("mousemove", (event) => this.hover_ruler(event), { signal });
    this.ruler.addEventListener("mouseleave", () => this.tooltip.hide(), { signal });
    this.ruler.addEventListener("pointerdown", (event) => this.drag_ruler(event), { signal });
    new Input(
      this.front,
      {
        zoom: (factor, x) => control.zoom(factor, x),
        pan: (pixels) => control.pan(pixels),
        scroll: (pixels) => {
          this.scroll.scrollTop += pixels;
        },
        drag_start: () => {
          state.hovered = null;
          this.tooltip.hide();
        },
        area: (x0, y0, x1, y1, done) => this.drag_area(x0, y0, x1, y1, done),
        click: (x, y) => this.click(x, y),
        open: (x, y) => {
          if (this.stage.hit(x, y)) control.fit();
        },
        hover: (x, y, event) => this.hover(x, y, event),
        leave: () => {
          state.hovered = null;
          state.cursor = null;
          this.mouse = null;
          this.tooltip.hide();
          this.retouch();
        },
        selecting: () => state.selecting,
        key: keys(control, state, {
          search: () => this.toolbar.search.focus(),
          find_tracks: () => this.finder.input.select(),
          clear_search: () => (this.toolbar.search.value = ""),
          help: () => this.help(),
          scroll: (pixels) => (this.scroll.scrollTop += pixels),
        }),
      },
      signal,
    );
  }

  // On the ruler a drag selects a time of all tracks.
  private drag_ruler(event: PointerEvent): void {
    if (event.button !== 0) return;
    const from = event.offsetX;
    const all = (x: number, done: boolean): void => this.drag_area(from, -Infinity, x, Infinity, done);
    follow_pointer(this.ruler, event, { move: (x) => all(x, false), end: (x, _y, dragged) => dragged && all(x, true) });
  }

  private hover_ruler(event: MouseEvent): void {
    const mark = event.buttons ? null : ruler_mark_at(this.state, event.offsetX);
    if (mark) this.tooltip.show(event.clientX, event.clientY, ...mark_text(mark));
    else this.tooltip.hide();
  }

  private help(): void {
    const dialog = help_dialog();
    this.element.append(dialog);
    dialog.showModal();
  }

  // --- mouse

  private hover(x: number, y: number, event: MouseEvent): void {
    const { state } = this;
    state.cursor = x;
    this.mouse = event;
    if (event.buttons) return this.retouch();
    const mark = this.stage.mark_at(x, y);
    state.hovered = mark ? null : this.stage.hit(x, y);
    this.front.classList.toggle("over", Boolean(mark ?? state.hovered));
    const text = mark ? mark_text(mark) : state.hovered ? hover_text(state.hovered) : null;
    if (text) this.tooltip.show(event.clientX, event.clientY, ...text);
    else this.tooltip.hide();
    this.retouch();
  }

  private click(x: number, y: number): void {
    this.scroll.focus({ preventScroll: true });
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
    const under = (box: LaneBox, y: number): boolean => box.kind === "track" && y < bottom && y + box.height > top;
    const boxes = this.stage.visible().filter(({ box, y }) => under(box, y));
    const tracks = whole ? lanes.chosen : boxes.map(({ box }) => box.track!.id);
    const from = Math.max(0, Math.round(view.time(Math.min(x0, x1))));
    const to = Math.min(view.window_ns, Math.round(view.time(Math.max(x0, x1))));
    const area = { from, to: Math.max(from + 1, to), tracks: tracks.length === lanes.tracks.length ? [] : tracks };
    if (done) return this.control.select_area(area);
    this.state.area = area;
    this.retouch();
  }

  // --- Screen

  redraw(): void {
    this.dirty.ruler = true;
    this.refine();
  }
  refine(): void {
    this.dirty.lanes = true;
    if (this.state.moving) this.tooltip.hide();
    this.schedule();
  }
  retouch(): void {
    this.dirty.overlay = true;
    this.schedule();
  }
  // Without a move of the mouse another slice may have come to lie under it.
  rested(): void {
    const box = this.front.getBoundingClientRect();
    if (this.mouse && !this.mouse.buttons) this.hover(this.mouse.clientX - box.left, this.mouse.clientY - box.top, this.mouse);
    this.refine();
  }
  relabel(): void {
    const { lanes } = this.state;
    this.sizer.style.setProperty("height", `${Math.max(0, lanes.height + lanes.pinned_height - this.stage.height)}px`);
    this.finder.show();
    this.dirty.labels = true;
    this.redraw();
  }
  reveal(track: number, depth: number): void {
    this.state.lanes.reveal(track);
    this.relabel();
    const row = this.stage.row_at(track, depth);
    const box = this.state.lanes.box(track);
    if (!row || !box || box.pinned) return;
    const top = this.state.lanes.pinned_height;
    if (row.y < top + 20) this.scroll.scrollTop += row.y - top - 60;
    else if (row.y > this.stage.height - 40) this.scroll.scrollTop += row.y - this.stage.height + 100;
  }
  panel(): void {
    this.dirty.labels = true;
    this.panel_box.show();
    this.redraw();
  }
  private find(text: string): void {
    this.toolbar.search.value = text;
    this.control.search(text, false);
  }
  found(text: string): void {
    this.toolbar.found(text);
  }
  complain(message: string): void {
    this.toolbar.say(message);
  }

  // --- frames

  private scrolled(): void {
    this.state.scroll = this.scroll.scrollTop;
    this.dirty.labels = true;
    this.control.stirred();
  }
  private resized(): void {
    this.stage.height = Math.max(1, this.scroll.clientHeight);
    this.state.view.width = Math.max(50, this.scroll.clientWidth - kLabels);
    this.scroll.style.setProperty("--height", `${this.stage.height}px`);
    this.dirty.overlay = true;
    this.relabel();
  }
  private schedule(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }
  private draw(): void {
    this.frame = 0;
    if (this.closed.signal.aborted) return;
    const began = performance.now();
    const { lanes, ruler, labels } = this.dirty;
    const overlay = this.dirty.overlay || (lanes && this.overlay.follows_view);
    this.dirty = { lanes: false, ruler: false, overlay: false, labels: false };
    const refines = this.stage.stats.pending && !this.state.moving;
    const more = (lanes || refines) && this.stage.draw(overlay ? kRefine_ms / 2 : kRefine_ms);
    if (ruler) {
      draw_ruler(this.ruler, this.state);
      this.minimap.draw();
    }
    if (labels) this.labels.draw();
    if (overlay) this.overlay.draw();
    this.toolbar.loading(this.state.tiles.loading > 0);
    if (more) this.schedule();
    this.times.push(performance.now() - began);
    if (this.times.length > 2000) this.times.shift();
  }
  readonly times: number[] = [];
  private shown: object | null = null;

  // --- Page

  async start(): Promise<void> {
    if (this.closed.signal.aborted) return; // left before its first frame: the URL is another page's
    this.ruler.style.setProperty("height", `${kRulerHeight}px`);
    this.shown = publish({
      state: this.state,
      stats: this.stage.stats,
      times: this.times,
      row_at: (track: number, depth: number) => this.stage.row_at(track, depth),
      left: kLabels,
    });
    void this.state.source
      .overview(this.state.t)
      .then((overview) => this.minimap.show(overview))
      .catch(() => undefined);
    this.toolbar.search.value = this.context.parameters.get("q") ?? "";
    await this.control.read_url(this.context.parameters);
  }
  async update(parameters: URLSearchParams): Promise<void> {
    this.toolbar.search.value = parameters.get("q") ?? "";
    await this.control.read_url(parameters);
  }
  close(): void {
    if (here().page === "timeline") this.control.write_url();
    this.control.stop();
    this.state.tiles.close();
    this.panel_box.close();
    this.toolbar.close();
    cancelAnimationFrame(this.frame);
    withdraw(this.shown);
    this.closed.abort();
  }
}

export async function timeline_page(context: Context): Promise<Page> {
  const [groups, marks] = await Promise.all([context.source.tracks(context.t), context.source.marks(context.t).catch(() => [])]);
  if (!groups.some((group) => group.tracks.length)) return { element: el("p", { class: "empty muted" }, "This trace has no slices.") };
  const page = new TimelinePage(context, groups, marks);
  requestAnimationFrame(() => void page.start());
  return page;
}
