// The data of a `ridge report` file: a fixed set of answers inside the page. Where the report holds every slice (slice_pack.ts), the timeline, search
// and areas are those of the trace; else search counts by the names and walks over the slices that are drawn one by one. What would need the trace
// itself says so.
import { matches_name } from "./name_match";
import { SlicePack, unpacked, window_name, type Packed, type PackPlace } from "./slice_pack";
import { canonical, kSearchPage, SourceError, type DataSource, type Parameters } from "./source";
import type { Area, Flame, Counter, Hit, Hits, Mark, Overview, Report, SliceDetails, Slices, TraceInfo, Track, TrackGroup, Traces } from "./types";

const kHint = "Open the trace with `ridge serve` to see it.";
const kMostNames = 2000; // that a search lights up

interface Embedded {
  version: number;
  responses: Record<string, unknown>;
}

interface Known extends Hit {
  category: string;
  depth: number;
}

interface NameCounts {
  names: string[];
  tracks: { track: number; name: number[]; count: number[] }[];
}

export class EmbeddedSource implements DataSource {
  readonly fixed = true;
  private readonly responses = new Map<string, unknown>(); // by canonical target
  private readonly tracks_of = new Map<string, Slices>(); // "t/track", where the slices are not there one by one
  private readonly known = new Map<number, Map<number, Known>>(); // trace -> id -> slice, filled on first use
  private readonly packs = new Map<number, Promise<SlicePack>>();
  private readonly counts = new Map<number, Promise<NameCounts>>();
  private searched: { key: string; found: PackPlace[]; names: string[] | null } | null = null; // the last search of a pack

  constructor(text: string) {
    const data = JSON.parse(text) as Embedded | null;
    for (const [target, answer] of Object.entries(data?.responses ?? {})) {
      const [path, text] = target.split("?", 2);
      const name = path!.slice("/api/v1/".length);
      const query = new URLSearchParams(text ?? "");
      this.responses.set(canonical(name, Object.fromEntries(query)), answer);
      if (name !== "slices") continue;
      this.tracks_of.set(`${query.get("t") ?? 0}/${query.get("track")}`, answer as Slices);
    }
  }

  watch(): void {}
  check(): void {}

  has(path: string, parameters: Parameters = {}): boolean {
    return this.key(path, parameters) !== null;
  }
  windows(t: number): boolean {
    return this.has("all_slices", { t });
  }

  // The first trace may be named or not.
  private key(path: string, parameters: Parameters): string | null {
    const { t, ...others } = parameters;
    const candidates = [canonical(path, parameters), ...(t === 0 ? [canonical(path, others)] : [])];
    return candidates.find((key) => this.responses.has(key)) ?? null;
  }

  private pack(t: number): Promise<SlicePack> | null {
    if (!this.windows(t)) return null;
    let pack = this.packs.get(t);
    if (!pack) this.packs.set(t, (pack = this.get<unknown>("all_slices", { t }).then((each) => unpacked<Packed>(each)).then((each) => new SlicePack(each))));
    return pack;
  }
  private name_counts(t: number): Promise<NameCounts> {
    let counts = this.counts.get(t);
    if (!counts) this.counts.set(t, (counts = this.get<unknown>("name_counts", { t }).then((each) => unpacked<NameCounts>(each))));
    return counts;
  }

  flame(): Promise<Flame> {
    return Promise.reject(new SourceError("not_embedded", "This report holds no flame graphs.", kHint));
  }

  traces(): Promise<Traces> {
    return this.get("traces");
  }
  async trace(t: number): Promise<TraceInfo> {
    return (await this.traces()).traces[t] ?? missing("This trace");
  }
  analysis(name: string, parameters: Parameters = {}): Promise<Report> {
    return this.get(name, parameters);
  }
  async tracks(t: number): Promise<TrackGroup[]> {
    const { groups } = await this.get<{ groups: TrackGroup[] }>("tracks", { t });
    if (this.windows(t)) return groups;
    return groups
      .map((group) => ({ ...group, tracks: group.tracks.flatMap((track) => this.embedded(t, track)) }))
      .filter((group) => group.tracks.length);
  }
  // A track with the depths that the report has of it; none, when it has nothing of it.
  private embedded(t: number, track: Track): Track[] {
    const slices = this.tracks_of.get(`${t}/${track.id}`);
    return slices ? [{ ...track, depth: Math.max(1, ...slices.depths.map((each) => each.depth + 1)) }] : [];
  }
  async slices(t: number, track: number, from: number, to: number, px: number): Promise<Slices> {
    const pack = await this.pack(t);
    return pack ? pack.window(track, from, to, px) : (this.tracks_of.get(`${t}/${track}`) ?? missing("This track"));
  }
  slices_place(): never {
    return missing("This track");
  }
  async slice(t: number, id: number): Promise<SliceDetails> {
    if (this.has("slice", { t, id })) return this.get("slice", { t, id });
    const pack = await this.pack(t);
    const place = pack?.place(id);
    const slice = pack ? place && pack.hit(place) : this.slices_of(t).get(id);
    if (!slice) return missing("This slice");
    const unknown = { self_ns: null, op: null, op_from: null, frame: null, module: null, cost: null, parent: null };
    return { ...slice, ...unknown, args: {}, flows: [] };
  }
  async neighbour(t: number, id: number, direction: "next" | "prev"): Promise<number | null> {
    const pack = await this.pack(t);
    if (pack) {
      const place = pack.place(id);
      return place?.row.id[place.at + (direction === "next" ? 1 : -1)] ?? null;
    }
    const all = this.slices_of(t);
    const here = all.get(id);
    if (!here) return null;
    let best: Known | null = null;
    for (const slice of all.values()) {
      if (slice.track !== here.track || slice.depth !== here.depth || slice.id === id) continue;
      if (direction === "next" ? slice.start_ns < here.start_ns : slice.start_ns > here.start_ns) continue;
      if (!best || Math.abs(slice.start_ns - here.start_ns) < Math.abs(best.start_ns - here.start_ns)) best = slice;
    }
    return best?.id ?? null;
  }
  async area(t: number, from: number, to: number, tracks: number[]): Promise<Area> {
    const pack = await this.pack(t);
    if (!pack) return missing("What an area holds");
    const [{ traces }, groups] = await Promise.all([this.traces(), this.tracks(t)]);
    return pack.area(from, to, tracks, traces[t]!.window_ns, groups);
  }
  async search(t: number, text: string, skip: number): Promise<Hits> {
    const pack = await this.pack(t);
    return pack ? this.search_pack(pack, t, text, skip) : this.search_names(t, text, skip);
  }
  private async search_pack(pack: SlicePack, t: number, text: string, skip: number): Promise<Hits> {
    const key = `${t}/${text}`;
    if (this.searched?.key !== key) {
      const wanted = await matches_name(pack.names, text);
      this.searched = { key, found: pack.named(wanted), names: lit(pack.names, wanted) };
    }
    const { found, names } = this.searched;
    return { hits: found.length, results: found.slice(skip, skip + kSearchPage).map((place) => pack.hit(place)), names };
  }
  // All hits are counted; those drawn one by one can be walked to.
  private async search_names(t: number, text: string, skip: number): Promise<Hits> {
    if (!this.has("name_counts", { t })) return missing("Search by name");
    const counts = await this.name_counts(t);
    const wanted = await matches_name(counts.names, text);
    let hits = 0;
    for (const { name, count } of counts.tracks) name.forEach((each, i) => (hits += wanted[each] ? count[i]! : 0));
    const names = lit(counts.names, wanted, Infinity)!;
    const short = new Set(names);
    const results = [...this.slices_of(t).values()].filter((slice) => short.has(slice.name)).sort((a, b) => a.start_ns - b.start_ns);
    return { hits, results: results.slice(skip, skip + kSearchPage), names: names.length > kMostNames ? null : names, shown: results.length };
  }
  async marks(t: number): Promise<Mark[]> {
    return this.has("marks", { t }) ? (await this.get<{ marks: Mark[] }>("marks", { t })).marks : [];
  }
  overview(t: number): Promise<Overview> {
    return this.get("overview", { px: 1000, t });
  }
  async counters(t: number): Promise<Counter[]> {
    const parameters = { px: 1000, t };
    return this.has("counters", parameters) ? (await this.get<{ counters: Counter[] }>("counters", parameters)).counters : [];
  }

  private async get<T>(path: string, parameters: Parameters = {}): Promise<T> {
    const key = this.key(path, parameters);
    return key === null ? missing("This answer") : (this.responses.get(key) as T);
  }

  private slices_of(t: number): Map<number, Known> {
    let all = this.known.get(t);
    if (all) return all;
    all = new Map();
    for (const [key, track] of this.tracks_of) {
      if (key.startsWith(`${t}/`)) collect(track, all);
    }
    this.known.set(t, all);
    return all;
  }
}

function collect(track: Slices, into: Map<number, Known>): void {
  for (const { depth, slices } of track.depths) {
    for (let i = 0; i < slices.id.length; ++i) {
      into.set(slices.id[i]!, {
        id: slices.id[i]!,
        name: track.names[slices.name[i]!] ?? "",
        category: track.categories[slices.color[i]!] ?? "",
        track: track.track,
        start_ns: slices.start[i]!,
        dur_ns: slices.dur[i]!,
        depth,
      });
    }
  }
}

// The names that match, as windows of slices have them.
function lit(names: string[], wanted: Uint8Array, most = kMostNames): string[] | null {
  const found = names.filter((_, i) => wanted[i]);
  return found.length > most ? null : found.map(window_name);
}

function missing(what: string): never {
  throw new SourceError("not_embedded", `${what} is not in this report`, kHint);
}
