// What the timeline can do: move, select, search, mark, follow. What the URL holds of it is address.ts; drawing is told through `redraw`.
import { kExactMark, kRegexMark } from "../api/name_match";
import type { DataSource } from "../api/source";
import type { Hits, SliceDetails } from "../api/types";
import { Address } from "./address";
import { load_claim, type Claim } from "./claim";
import { HitList } from "./hit_list";
import { meeting_of, type Meeting } from "./meeting";
import { slice_beside } from "./row_walk";
import { RestTimer } from "./rest_timer";
import type { Area, State } from "./state";

const kRest_ms = 80; // without a move until the view is drawn at its finest
const kSearchDelay_ms = 150;
const kMargin = 0.02; // of what is shown, on both sides

export interface Screen {
  redraw(): void; // lanes, ruler, minimap
  refine(): void; // the lanes only: the view is the same in time
  retouch(): void; // the overlay only
  rested(): void; // the view has not moved for a moment: time to refine it
  relabel(): void; // lanes moved: heights, pins
  reveal(track: number, depth: number): void; // scroll there
  scroll_to(y: number): void; // px below the first track
  reveal_device(device: number): void; // scroll to its streams
  panel(): void; // selection or area changed
  found(text: string): void; // result of a search, in words
  complain(message: string): void;
}

export class Controller {
  private readonly address: Address;
  private readonly rest_timer = new RestTimer(kRest_ms, () => this.rest());
  private search_timer = 0;
  private search_under_way: AbortController | null = null;
  private asked = 0; // the latest selection asked for
  private read = 0; // the latest URL read
  private stopped = false;

  constructor(
    readonly state: State,
    private readonly screen: Screen,
  ) {
    this.address = new Address(state);
  }

  private get source(): DataSource {
    return this.state.source;
  }

  // --- view

  moved(): void {
    this.stirred();
    this.screen.redraw();
    this.remember();
  }
  // The lanes move, in time or up and down.
  stirred(): void {
    this.state.moving = true;
    this.state.hovered = null; // what is under the mouse now is found when the view rests
    this.rest_timer.stir();
    this.screen.refine();
  }
  scrolled(): void {
    this.stirred();
    this.remember();
  }
  private rest(): void {
    this.state.moving = false;
    this.screen.rested();
  }
  zoom(factor: number, x: number | null): void {
    const { view, cursor } = this.state;
    view.zoom(factor, view.time(x ?? cursor ?? view.width / 2));
    this.moved();
  }
  pan(pixels: number): void {
    this.state.view.pan(pixels * this.state.view.ns_per_px);
    this.moved();
  }

  whole(): void {
    this.state.view.fit();
    this.moved();
  }

  // The selection or area; when it already fills the screen, or without one, the whole trace.
  fit(): void {
    const { view, selection, area } = this.state;
    const range = area ?? (selection ? { from: selection.start_ns, to: selection.start_ns + selection.dur_ns } : null);
    const before = [view.from, view.to];
    if (range) view.frame(range.from, range.to);
    if (!range || (Math.abs(view.from - before[0]!) < 1 && Math.abs(view.to - before[1]!) < 1)) view.fit();
    if (selection && !area) this.screen.reveal(selection.track, selection.depth);
    this.moved();
  }

  // Exactly this time, with a little room.
  show(from: number, to: number): void {
    const margin = Math.max(1, (to - from) * kMargin);
    this.state.view.set(from - margin, to + margin);
    this.moved();
  }

  // What a finding claims: its time fills the view.
  show_claim(claim: Claim | null, moves = true): void {
    this.state.claim = claim;
    this.address.awaited.finding = null;
    if (claim && moves) this.show(claim.best.from, claim.best.to);
    this.selected();
    if (claim) this.screen.reveal_device(claim.best.device);
  }
  private async load_claim(id: string, moves: boolean): Promise<void> {
    const { scope } = this.state;
    const still_asked = () => !this.stopped && scope === this.state.scope && this.address.awaited.finding === id;
    try {
      const claim = await load_claim(this.source, this.state.t, scope, id);
      if (!still_asked()) return;
      this.show_claim(claim, moves);
      if (!claim) this.screen.complain(`The finding ${id} claims no time of this trace`);
    } catch (error) {
      if (!still_asked()) return;
      this.address.awaited.finding = null;
      this.screen.complain((error as Error).message);
    }
  }

  // --- selection

  async select(id: number | null, show = false): Promise<void> {
    if (this.stopped) return;
    const asked = ++this.asked;
    this.address.awaited.slice = id;
    this.state.meeting = null;
    if (id === null) {
      this.state.selection = null;
      this.selected();
      return;
    }
    try {
      const slice = await this.source.slice(this.state.t, id);
      if (asked !== this.asked) return;
      this.address.awaited.slice = null;
      this.state.selection = slice;
      this.state.area = null;
      if (show) {
        this.state.view.show(slice.start_ns, slice.start_ns + slice.dur_ns);
        this.screen.reveal(slice.track, slice.depth);
        this.screen.redraw();
      }
      this.selected();
      void meeting_of(this.state, slice).then((meeting) => this.met(slice, meeting));
    } catch (error) {
      if (asked !== this.asked) return;
      this.address.awaited.slice = null;
      this.screen.complain((error as Error).message);
    }
  }

  private met(slice: SliceDetails, meeting: Meeting | null): void {
    if (!meeting || this.stopped || this.state.selection !== slice) return;
    this.state.meeting = meeting;
    this.screen.panel();
    this.screen.retouch();
  }

  private selected(): void {
    this.screen.complain("");
    this.screen.panel();
    this.screen.retouch();
    this.remember();
  }

  async neighbour(direction: "next" | "prev"): Promise<void> {
    const { selection, t } = this.state;
    if (!selection) return this.row(direction === "next" ? 1 : -1);
    const id = await this.source.neighbour(t, selection.id, direction).catch(() => null);
    if (id !== null && selection === this.state.selection) await this.select(id, true); // else another was chosen meanwhile
  }

  // To the row below (1) or above (-1) that has a slice in view.
  async row(step: 1 | -1): Promise<void> {
    const { selection } = this.state;
    const id = await slice_beside(this.state, step).catch(() => null);
    if (id !== null && selection === this.state.selection) await this.select(id, true);
  }

  // Along a flow: "out" to what this started, "in" to what started it.
  async follow(direction: "in" | "out"): Promise<void> {
    const flow = this.state.selection?.flows.find((each) => each.direction === direction);
    if (flow) await this.select(flow.id, true);
  }

  select_area(area: Area | null): void {
    this.state.area = area;
    if (area) this.state.selection = this.state.meeting = null;
    this.selected();
  }

  // What happened while the selected slice ran, on every track.
  area_of_selection(): void {
    const { selection } = this.state;
    if (selection) this.select_area({ from: selection.start_ns, to: selection.start_ns + Math.max(1, selection.dur_ns), tracks: [] });
  }
  select_all(): void {
    this.select_area({ from: 0, to: this.state.view.window_ns, tracks: this.state.lanes.chosen });
  }

  // --- marks of the user

  mark(): void {
    const { selection, area, cursor, notes, view } = this.state;
    const range =
      area ??
      (selection
        ? { from: selection.start_ns, to: selection.start_ns + selection.dur_ns }
        : cursor !== null
          ? { from: Math.round(view.time(cursor)), to: Math.round(view.time(cursor)) }
          : null);
    if (!range) return;
    const same = notes.findIndex((each) => each.from === range.from && each.to === range.to);
    if (same >= 0) notes.splice(same, 1);
    else notes.push({ from: range.from, to: range.to });
    this.moved();
  }

  clear(): void {
    this.state.area = null;
    this.state.selection = null;
    this.state.meeting = null;
    this.state.claim = null;
    this.address.awaited = { slice: null, finding: null };
    this.search("", false);
    this.selected();
    this.screen.redraw();
  }

  // --- search

  // While typing, after a short rest; `go_first` also walks to the first hit.
  search(text: string, go_first: boolean): void {
    clearTimeout(this.search_timer);
    this.search_under_way?.abort();
    this.state.query = text;
    const plain = text !== "" && !text.startsWith(kRegexMark) && !text.startsWith(kExactMark);
    this.state.lit = plain ? { key: text.toLowerCase(), names: null } : null;
    this.state.hits = null;
    this.state.hit = -1;
    this.remember();
    this.screen.redraw();
    this.screen.found("");
    if (text) this.search_timer = window.setTimeout(() => void this.run_search(text, go_first), go_first ? 0 : kSearchDelay_ms);
  }

  private async run_search(text: string, go_first: boolean): Promise<void> {
    const control = (this.search_under_way = new AbortController());
    try {
      const ask = (skip: number): Promise<Hits> => this.source.search(this.state.t, text, skip, control.signal);
      const first = await ask(0);
      if (control.signal.aborted) return;
      this.state.hits = new HitList(first, ask);
      if (!this.state.lit && first.names) this.state.lit = { key: text, names: new Set(first.names) };
      this.screen.found(this.hit_text());
      this.screen.redraw();
      if (go_first) await this.walk(1);
    } catch (error) {
      if (!control.signal.aborted) this.screen.found((error as Error).message);
    }
  }

  // From hit to hit, round and round; those of a page that has not come yet are asked for.
  async walk(step: number): Promise<void> {
    const { hits } = this.state;
    if (!hits?.shown) return;
    const next = this.state.hit < 0 ? (step > 0 ? 0 : hits.shown - 1) : this.state.hit + step;
    const at = (this.state.hit = (next + hits.shown) % hits.shown);
    this.screen.found(this.hit_text());
    try {
      const hit = await hits.at(at);
      if (hit && hits === this.state.hits && at === this.state.hit) await this.select(hit.id, true); // else one has walked on
    } catch (error) {
      if (hits === this.state.hits) this.screen.complain((error as Error).message);
    }
  }

  private hit_text(): string {
    const { hits, hit } = this.state;
    if (!hits) return "";
    const all = hits.hits.toLocaleString("en-US");
    const walked = hits.shown.toLocaleString("en-US");
    const part = hits.shown < hits.hits ? `, ${hits.shown ? `${walked} of them` : "none of them"} one by one in this report` : "";
    return hit < 0 ? `${all} ${hits.hits === 1 ? "hit" : "hits"}${hits.by_trace}${part}` : `${(hit + 1).toLocaleString("en-US")} of ${part ? `${walked} (${all} hits)` : all}`;
  }

  // --- tracks

  toggle(key: string): void {
    this.state.lanes.toggle(key);
    this.screen.relabel();
    this.remember();
  }
  pin(track: number | null): void {
    if (track === null) return;
    this.state.lanes.pin(track);
    this.screen.relabel();
    this.remember();
  }
  // Shows only the tracks whose names hold these words.
  find_tracks(words: string): void {
    this.state.lanes.find_tracks(words);
    this.screen.relabel();
    this.remember();
  }
  collapse_all(): void {
    const { lanes } = this.state;
    lanes.collapse_all(lanes.collapsed.size === 0);
    this.screen.relabel();
    this.remember();
  }

  // --- the URL

  private remember(): void {
    this.address.remember();
  }
  stop(): void {
    this.stopped = true;
    this.asked += 1; // an answer that comes now is nobody's
    this.address.stop();
    this.rest_timer.stop();
    clearTimeout(this.search_timer);
    this.search_under_way?.abort();
  }

  write_url(): void {
    this.address.write();
  }

  // Another part of the trace was chosen: what was asked of the last one is asked again.
  ask_of(scope: Record<string, string>): void {
    if (JSON.stringify(scope) === JSON.stringify(this.state.scope)) return;
    this.state.scope = scope;
    this.state.claim = null;
  }

  async read_url(parameters: URLSearchParams): Promise<void> {
    const read = ++this.read;
    const { state } = this;
    const { range, area, query, slice, finding, y } = this.address.read(parameters);
    const is_other_finding = finding !== (state.claim?.id ?? null);
    if (is_other_finding) {
      state.claim = null;
      this.address.awaited.finding = finding;
    }
    this.screen.relabel();
    this.screen.panel();
    if (y !== null) this.screen.scroll_to(y);
    if (query !== state.query || query) this.search(query, !slice && !range);
    if (/^\d+$/.test(slice)) await this.select(Number(slice), !range);
    else if (!query) await this.select(null);
    if (read !== this.read || this.stopped) return; // another link was followed meanwhile
    if (is_other_finding && finding) await this.load_claim(finding, !range);
    if (read !== this.read || this.stopped) return;
    if (y !== null) this.screen.scroll_to(y); // the panel has opened meanwhile
    else if (slice && range && state.selection && state.lanes.box(state.selection.track)) this.screen.reveal(state.selection.track, state.selection.depth);
    if (area) this.select_area(state.area ?? { ...area, tracks: [] });
  }
}
