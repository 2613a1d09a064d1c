// The data of a `ridge report` file: a fixed set of answers inside the page. Search and neighbours work on the slices that are embedded;
// what would need the trace itself says so.
import { canonical, kSearchPage, SourceError, type DataSource, type Parameters } from "./source";
import type { Area, AreaRow, Hit, Hits, Mark, Overview, Report, SliceDetails, Slices, Track, TrackGroup, Traces } from "./types";

const kHint = "Open the trace with `ridge serve` to see it.";

interface Embedded {
  version: number;
  responses: Record<string, unknown>;
}

interface Known extends Hit {
  category: string;
  depth: number;
}

export class EmbeddedSource implements DataSource {
  readonly fixed = true;
  private readonly responses = new Map<string, unknown>(); // by canonical target
  private readonly tracks_of = new Map<string, Slices>(); // "t/track"
  private readonly known = new Map<number, Map<number, Known>>(); // trace -> id -> slice, filled on first use

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

  // The first trace may be named or not.
  private key(path: string, parameters: Parameters): string | null {
    const { t, ...others } = parameters;
    const candidates = [canonical(path, parameters), ...(t === 0 ? [canonical(path, others)] : [])];
    return candidates.find((key) => this.responses.has(key)) ?? null;
  }

  traces(): Promise<Traces> {
    return this.get("traces");
  }
  analysis(name: string, parameters: Parameters = {}): Promise<Report> {
    return this.get(name, parameters);
  }
  async tracks(t: number): Promise<TrackGroup[]> {
    const { groups } = await this.get<{ groups: TrackGroup[] }>("tracks", { t });
    return groups
      .map((group) => ({ ...group, tracks: group.tracks.flatMap((track) => this.embedded(t, track)) }))
      .filter((group) => group.tracks.length);
  }
  // A track with the depths that the report has of it; none, when it has nothing of it.
  private embedded(t: number, track: Track): Track[] {
    const slices = this.tracks_of.get(`${t}/${track.id}`);
    return slices ? [{ ...track, depth: Math.max(1, ...slices.depths.map((each) => each.depth + 1)) }] : [];
  }
  async slices(t: number, track: number): Promise<Slices> {
    return this.tracks_of.get(`${t}/${track}`) ?? missing("This track");
  }
  slices_url(): string {
    return missing("This track");
  }
  async slice(t: number, id: number): Promise<SliceDetails> {
    if (this.has("slice", { t, id })) return this.get("slice", { t, id });
    const slice = this.slices_of(t).get(id);
    if (!slice) return missing("This slice");
    const unknown = { self_ns: null, op: null, op_from: null, frame: null, module: null, cost: null, parent: null };
    return { ...slice, ...unknown, args: {}, flows: [] };
  }
  async neighbour(t: number, id: number, direction: "next" | "prev"): Promise<number | null> {
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
    const by_name = new Map<string, AreaRow>();
    const by_category = new Map<string, AreaRow>();
    let slices = 0;
    for (const slice of this.slices_of(t).values()) {
      const inside = Math.min(slice.start_ns + slice.dur_ns, to) - Math.max(slice.start_ns, from);
      if (inside <= 0 || (tracks.length && !tracks.includes(slice.track))) continue;
      ++slices;
      add(by_name, slice.name, slice.category, inside);
      add(by_category, slice.category, slice.category, inside);
    }
    return { busy_pct: {}, by_name: largest(by_name), by_category: largest(by_category), slices };
  }
  async search(t: number, text: string, skip: number): Promise<Hits> {
    const wanted = text.toLowerCase();
    const results = [...this.slices_of(t).values()].filter((slice) => slice.name.toLowerCase().includes(wanted));
    results.sort((a, b) => a.start_ns - b.start_ns);
    return { hits: results.length, results: results.slice(skip, skip + kSearchPage) };
  }
  async marks(t: number): Promise<Mark[]> {
    return this.has("marks", { t }) ? (await this.get<{ marks: Mark[] }>("marks", { t })).marks : [];
  }
  overview(t: number): Promise<Overview> {
    return this.get("overview", { px: 1000, t });
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

function add(rows: Map<string, AreaRow>, name: string, category: string, time_ns: number): void {
  const row = rows.get(name) ?? { name, category, count: 0, total_ns: 0, self_ns: null };
  row.count += 1;
  row.total_ns += time_ns;
  rows.set(name, row);
}

function largest(rows: Map<string, AreaRow>): AreaRow[] {
  return [...rows.values()].sort((a, b) => b.total_ns - a.total_ns).slice(0, 200);
}

function missing(what: string): never {
  throw new SourceError("not_embedded", `${what} is not in this report`, kHint);
}
