// Several traces as the data of one: asked for a time of the axis (alignment.ts) it asks each for its own, and what they answer is moved to the axis. Ids of
// slices and tracks say whose they are (Part.first_id). Names of groups, tracks and counters begin with the part's label.
import { kSearchPage, SourceError, type DataSource, type Parameters, type SlicesPlace } from "../api/source";
import type { Area, AreaRow, Counter, Flame, Hits, Mark, Overview, Report, SliceDetails, Slices, TraceInfo, TrackGroup, Traces } from "../api/types";
import { is_stack, part_of, type Alignment, type Part } from "./alignment";
import { moved_slices } from "./moved_slices";

const kOverviewBuckets = 1000;
const kMostMarked = 8; // traces: the marks of more are too many to tell anything

export class AlignedSource implements DataSource {
  readonly fixed: boolean;
  private readonly window_ns: number;

  constructor(
    private readonly source: DataSource,
    private readonly parts: Alignment,
  ) {
    this.fixed = source.fixed;
    this.window_ns = Math.max(...parts.map(({ trace, shift_ns }) => trace.window_ns + shift_ns));
  }

  windows(): boolean {
    return this.source.windows(this.parts[0]!.t);
  }
  has(path: string, parameters?: Parameters): boolean {
    return this.source.has(path, parameters);
  }
  watch(told: (there: boolean) => void): void {
    this.source.watch(told);
  }
  check(): void {
    this.source.check();
  }
  traces(): Promise<Traces> {
    return this.source.traces();
  }
  trace(t: number): Promise<TraceInfo> {
    return this.source.trace(t);
  }
  // Of all traces together, if of any.
  analysis(name: string, parameters?: Parameters): Promise<Report> {
    if (name === "arrivals") return this.source.analysis(name, parameters);
    return Promise.reject(new SourceError("aligned", "What a finding claims is shown on the timeline of one trace."));
  }

  async tracks(): Promise<TrackGroup[]> {
    const both = await Promise.all(this.parts.map((part) => this.source.tracks(part.t)));
    return both.flatMap((groups, i) => groups.map((group) => this.group(group, this.parts[i]!)));
  }
  private group(group: TrackGroup, part: Part): TrackGroup {
    const tracks = group.tracks.map((track) => ({ ...track, id: outer(part, track.id), name: titled(part, track.name), window_ns: part.trace.window_ns }));
    return { ...group, id: `${part.label.replace(" ", "")}${group.id}`, name: titled(part, group.name), tracks, part: part.label };
  }

  async slices(_t: number, track: number, from: number, to: number, px: number, signal?: AbortSignal): Promise<Slices> {
    const part = this.part(track);
    const answer = await this.source.slices(part.t, inner(part, track), from - part.shift_ns, to - part.shift_ns, px, signal);
    return moved_slices(answer, part.shift_ns, part.first_id);
  }
  slices_place(_t: number, track: number, from: number, to: number, px: number): SlicesPlace {
    const part = this.part(track);
    const { url } = this.source.slices_place(part.t, inner(part, track), from - part.shift_ns, to - part.shift_ns, px);
    return { url, shift_ns: part.shift_ns, first_id: part.first_id };
  }
  async slice(_t: number, id: number): Promise<SliceDetails> {
    const part = this.part(id);
    const slice = await this.source.slice(part.t, inner(part, id));
    const named = <T extends { id: number | null }>(each: T | null): T | null => each && { ...each, id: each.id === null ? null : outer(part, each.id) };
    return {
      ...this.placed(slice, part),
      op: named(slice.op),
      parent: named(slice.parent),
      flows: slice.flows.map((flow) => this.placed(flow, part)),
      of: { t: part.t, name: titled(part, part.trace.name), shift_ns: part.shift_ns },
    };
  }
  async neighbour(_t: number, id: number, direction: "next" | "prev"): Promise<number | null> {
    const part = this.part(id);
    const found = await this.source.neighbour(part.t, inner(part, id), direction);
    return found === null ? null : outer(part, found);
  }

  async area(_t: number, from: number, to: number, tracks: number[], signal?: AbortSignal): Promise<Area> {
    const area: Area = { busy_pct: {}, by_name: [], by_category: [], slices: 0 };
    for (const part of this.asked(tracks)) {
      const answer = await this.source.area(part.t, from - part.shift_ns, to - part.shift_ns, this.own(part, tracks), signal);
      const of = (row: AreaRow): AreaRow => ({ ...row, trace: part.label });
      for (const [device, share] of Object.entries(answer.busy_pct)) area.busy_pct[`${device} of ${part.label}`] = share;
      area.by_name.push(...answer.by_name.map(of));
      area.by_category.push(...answer.by_category.map(of));
      area.slices += answer.slices;
    }
    return area;
  }
  async flame(_t: number, from: number, to: number, tracks: number[]): Promise<Flame> {
    const flame: Flame = { nodes: [], left_out: 0 };
    for (const part of this.asked(tracks)) {
      const answer = await this.source.flame(part.t, from - part.shift_ns, to - part.shift_ns, this.own(part, tracks));
      const first = flame.nodes.length;
      for (const node of answer.nodes) flame.nodes.push({ ...node, parent: node.parent === null ? null : node.parent + first, track: outer(part, node.track) });
      flame.left_out += answer.left_out;
    }
    return flame;
  }
  private asked(tracks: number[]): Part[] {
    return this.parts.filter((part) => !tracks.length || this.own(part, tracks).length);
  }
  private own(part: Part, tracks: number[]): number[] {
    return tracks.filter((track) => this.part(track) === part).map((track) => inner(part, track));
  }

  // First all hits of the one, then all of the next: a page may hold the end of one and the beginning of another.
  async search(_t: number, text: string, skip: number, signal?: AbortSignal): Promise<Hits> {
    const found: Hits = { hits: 0, results: [], names: [] };
    let walked = 0; // hits of the traces so far that can be walked to
    let some = false;
    const counts: string[] = [];
    for (const part of this.parts) {
      const answer = await this.source.search(part.t, text, Math.max(0, skip - walked), signal);
      for (const hit of answer.results.slice(0, kSearchPage - found.results.length)) found.results.push(this.placed(hit, part));
      found.hits += answer.hits;
      found.names = found.names && answer.names && [...new Set([...found.names, ...answer.names])];
      walked += answer.shown ?? answer.hits;
      some ||= answer.shown !== undefined;
      counts.push(`${part.label} ${answer.hits.toLocaleString("en-US")}`);
    }
    const few = counts.length <= 4;
    return { ...found, ...(some ? { shown: walked } : {}), by_trace: few ? counts.join(", ") : `${counts.length} ranks` };
  }

  async marks(): Promise<Mark[]> {
    if (this.parts.length > kMostMarked) return [];
    const both = await Promise.all(this.parts.map((part) => this.source.marks(part.t)));
    const moved = (mark: Mark, part: Part): Mark => ({
      ...mark,
      start_ns: mark.start_ns + part.shift_ns,
      track: mark.track === null ? null : outer(part, mark.track),
      id: mark.id === null ? null : outer(part, mark.id),
      label: titled(part, mark.label),
    });
    return both.flatMap((marks, i) => marks.map((mark) => moved(mark, this.parts[i]!)));
  }
  async overview(): Promise<Overview> {
    const [first, ...below] = await Promise.all(this.parts.map((part) => this.source.overview(part.t).then((each) => this.stretched(each, part))));
    return { ...first!, below };
  }
  // The same buckets of the axis for all: each shows the busiest of those that it covers.
  private stretched({ host, devices, bucket_ns }: Overview, { shift_ns }: Part): Overview {
    const width = Math.max(1, this.window_ns) / kOverviewBuckets;
    const strip = (busy: number[]): number[] =>
      Array.from({ length: kOverviewBuckets }, (_, i) => {
        const first = Math.max(0, Math.floor((i * width - shift_ns) / bucket_ns));
        const end = Math.ceil(((i + 1) * width - shift_ns) / bucket_ns);
        return busy.slice(first, Math.max(0, end)).reduce((most, each) => Math.max(most, each), 0);
      });
    return { bucket_ns: width, host: strip(host), devices: devices.map((each) => ({ ...each, busy: strip(each.busy) })) };
  }
  // Of ranks none: their slices are what is compared.
  async counters(): Promise<Counter[]> {
    if (is_stack(this.parts)) return [];
    const both = await Promise.all(this.parts.map((part) => this.source.counters(part.t)));
    const moved = (counter: Counter, part: Part): Counter => ({
      ...counter,
      name: titled(part, counter.name),
      at: counter.at.map((time) => time + part.shift_ns),
      part: part.label,
    });
    return both.flatMap((counters, i) => counters.map((counter) => moved(counter, this.parts[i]!)));
  }

  private part(id: number): Part {
    return part_of(this.parts, id);
  }
  private placed<T extends { id: number; track: number; start_ns: number }>(slice: T, part: Part): T {
    return { ...slice, id: outer(part, slice.id), track: outer(part, slice.track), start_ns: slice.start_ns + part.shift_ns };
  }
}

const outer = (part: Part, id: number): number => id + part.first_id;
const inner = (part: Part, id: number): number => id - part.first_id;
const titled = (part: Part, name: string): string => `${part.label} · ${name}`;
