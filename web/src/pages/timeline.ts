// The timeline page: puts the parts of ../timeline together and connects them with the mouse, the keys and the URL.
import { AlignBar } from "../timeline/align_bar";
import { AlignedSource } from "../timeline/aligned_source";
import { aligned_trace, alignment_of, is_stack, type Alignment } from "../timeline/alignment";
import { counter_groups } from "../timeline/counters";
import { Controller, type Screen } from "../timeline/controller";
import { help_dialog } from "../timeline/help";
import { Input } from "../timeline/input";
import { load_clock, may_have_clock } from "../timeline/job_clock";
import { keys } from "../timeline/keys";
import { Labels } from "../timeline/labels";
import { Lanes } from "../timeline/lanes";
import { Mouse } from "../timeline/mouse";
import { Minimap } from "../timeline/minimap";
import { Overlay } from "../timeline/overlay";
import { Panel } from "../timeline/panel";
import { RankBar } from "../timeline/rank_bar";
import { rehearse } from "../timeline/rehearsal";
import { draw_ruler, kRulerHeight } from "../timeline/ruler";
import { kRefine_ms, Stage } from "../timeline/stage";
import type { State } from "../timeline/state";
import { TileStore } from "../timeline/tiles";
import { TrackFinder } from "../timeline/track_finder";
import { Toolbar } from "../timeline/toolbar";
import { View } from "../timeline/view";
import type { DataSource } from "../api/source";
import type { TrackGroup } from "../api/types";
import { el } from "../ui/dom";
import { Paints } from "../ui/palette";
import { here } from "../ui/router";
import { publish, withdraw } from "../ui/shown";
import type { Context, Page } from "./page";

const kLabels = innerWidth <= 720 ? 116 : 232; // width of the names, as in timeline.css and small.css

// Devices first: that is where the time is looked for. Otherwise the trace's own order; last what is counted over time. Of two traces first all of the one;
// of ranks first the devices of all: what they do at the same time stands side by side.
function ordered(groups: TrackGroup[], counters: TrackGroup[], alignment: Alignment | null): TrackGroup[] {
  const parts = new Map(alignment?.map(({ label }, i) => [label, i]));
  const [by_part, by_kind] = is_stack(alignment) ? [1, parts.size] : [2, 1];
  const place = ({ part, kind }: TrackGroup): number => by_part * (parts.get(part ?? "") ?? 0) + by_kind * (kind === "device" ? 0 : 1);
  return [...groups, ...counters].sort((a, b) => place(a) - place(b));
}

class TimelinePage implements Page, Screen {
  readonly element: HTMLElement;
  private readonly state: State;
  private readonly stage: Stage;
  private readonly overlay: Overlay;
  private readonly control: Controller;
  private readonly minimap: Minimap;
  private readonly ruler = el("canvas", { class: "tl-ruler" });
  private readonly labels: Labels;
  private readonly finder: TrackFinder;
  private readonly sizer = el("div", { class: "tl-sizer" });
  private readonly toolbar: Toolbar;
  private readonly align: AlignBar;
  private readonly ranks: RankBar;
  private readonly scroll: HTMLElement;
  private readonly front: HTMLElement;
  private readonly panel_box: Panel;
  private readonly closed = new AbortController();
  private dirty = { lanes: true, ruler: true, overlay: true, labels: true };
  private frame = 0;
  private readonly mouse: Mouse;

  constructor(
    private readonly context: Context,
    alignment: Alignment | null,
    source: DataSource, // of all traces, where there are several
    groups: TrackGroup[],
    marks: State["marks"],
    counters: State["counters"],
  ) {
    const paints = new Paints();
    const trace = alignment ? aligned_trace(alignment) : context.trace;
    const view = new View(trace.window_ns);
    const came = (track: number): void => {
      this.stage.came(track);
      this.refine();
    };
    const missing = (): void => {
      this.stage.forget();
      this.redraw();
    };
    const tiles = new TileStore(source, context.t, trace.window_ns, paints, came, missing);
    this.state = {
      source,
      t: context.t,
      scope: context.scope,
      trace,
      alignment,
      job: may_have_clock(context.source, context.all) ? () => load_clock(context.source, context.all) : null,
      view,
      lanes: new Lanes(ordered(groups, counter_groups(counters), alignment)),
      tiles,
      paints,
      marks,
      counters,
      notes: [],
      selection: null,
      meeting: null,
      area: null,
      claim: null,
      hovered: null,
      cursor: null,
      query: "",
      lit: null,
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
    this.align = new AlignBar(context.source, context.all, context.t, alignment, () => this.control.write_url());
    this.ranks = new RankBar(context.source, context.all, context.t, alignment, () => this.control.write_url(), (message) => this.complain(message));
    this.toolbar = new Toolbar(this.state, this.control, {
      redraw: () => this.redraw(),
      moving: (on) => this.front.classList.toggle("moves", on),
      help: () => this.help(),
      align: [this.align.toggle, this.ranks.toggle],
    });
    this.panel_box = new Panel(this.state, {
      select: (id) => void this.control.select(id, true),
      fit: () => this.control.fit(),
      find: (text) => this.find(text),
      show: (from, to) => this.control.show(from, to),
      close_claim: () => this.control.show_claim(null),
      stack: (ranks) => void this.ranks.stack(ranks),
    });
    this.front = el("div", { class: "tl-front", style: { left: `${kLabels}px` } }, this.stage.canvas, this.overlay.canvas);
    this.mouse = new Mouse(this.state, this.stage, this.control, this.front, {
      retouch: () => this.retouch(),
      focus: () => this.scroll.focus({ preventScroll: true }),
    });
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
      el("h1", { class: "unseen" }, `Timeline of ${trace.name}`),
      this.toolbar.element,
      this.align.element,
      this.ranks.element,
      el("div", { class: "tl-over", style: { "padding-left": `${kLabels}px` } }, this.finder.element, this.minimap.element, this.ruler),
      this.scroll,
      this.panel_box.element,
      this.mouse.tooltip.element,
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
    this.mouse.listen_to_ruler(this.ruler, signal);
    new Input(
      this.front,
      {
        zoom: (factor, x) => control.zoom(factor, x),
        pan: (pixels) => control.pan(pixels),
        scroll: (pixels) => {
          this.scroll.scrollTop += pixels;
        },
        ...this.mouse.actions,
        selecting: () => state.selecting,
        key: keys(control, state, {
          search: () => this.toolbar.search.focus(),
          find_tracks: () => this.finder.input.select(),
          clear_search: () => (this.toolbar.search.value = ""),
          help: () => this.help(),
          align: () => this.align.switch("tl-scroll"),
          scroll: (pixels) => (this.scroll.scrollTop += pixels),
        }),
      },
      signal,
    );
  }

  private help(): void {
    const dialog = help_dialog();
    this.element.append(dialog);
    dialog.showModal();
  }

  // --- Screen

  redraw(): void {
    this.dirty.ruler = true;
    this.refine();
  }
  refine(): void {
    this.dirty.lanes = true;
    if (this.state.moving) this.mouse.tooltip.hide();
    this.schedule();
  }
  retouch(): void {
    this.dirty.overlay = true;
    this.schedule();
  }
  // Without a move of the mouse another slice may have come to lie under it.
  rested(): void {
    this.dirty.labels = true;
    this.mouse.look_again();
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
  reveal_device(device: number): void {
    const busiest = this.state.lanes.tracks.filter((track) => track.id >= 0 && track.device === device).sort((a, b) => b.busy_ns - a.busy_ns)[0];
    if (busiest) this.reveal(busiest.id, busiest.depth - 1);
  }
  scroll_to(y: number): void {
    this.scroll.scrollTop = y;
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
    this.control.scrolled();
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
    const more_labels = labels && this.labels.draw();
    if (overlay) this.overlay.draw();
    this.toolbar.loading(this.state.tiles.loading > 0);
    if (more_labels) this.dirty.labels = true;
    if (more || more_labels) this.schedule();
    else if (!this.rehearsed && !this.state.tiles.loading && this.stage.stats.frames > 2) this.rehearse();
    this.times.push(performance.now() - began);
    if (this.times.length > 2000) this.times.shift();
  }
  private rehearse(): void {
    this.rehearsed = true;
    const also = (): void => {
      draw_ruler(this.ruler, this.state);
      this.minimap.draw();
    };
    rehearse(this.state, this.closed.signal, also, () => {
      this.mouse.rehearse();
      this.stage.stats.rehearsed = true;
    });
  }
  private rehearsed = false;
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
    this.align.refocus(this.element);
    await this.control.read_url(this.context.parameters);
  }
  async update(parameters: URLSearchParams, scope: Context["scope"]): Promise<void> {
    this.toolbar.search.value = parameters.get("q") ?? "";
    this.control.ask_of(scope);
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
  const alignment = alignment_of(context.source, context.all, context.t, context.parameters);
  const source = alignment ? new AlignedSource(context.source, alignment) : context.source;
  const [groups, marks, counters] = await Promise.all([
    source.tracks(context.t),
    source.marks(context.t).catch(() => []),
    source.counters(context.t).catch(() => []),
  ]);
  if (!groups.some((group) => group.tracks.length)) return { element: el("p", { class: "empty muted" }, "This trace has no slices.") };
  const page = new TimelinePage(context, alignment, source, groups, marks, counters);
  requestAnimationFrame(() => void page.start());
  return page;
}
