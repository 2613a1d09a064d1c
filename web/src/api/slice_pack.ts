// Every slice of a trace, as a report holds them (apps/server/slice_pack.h): windows, search, areas and neighbours from them are what a server
// would answer, but for self times.
import type { Area, AreaRow, Hit, Slices, TrackGroup } from "./types";

interface PackedRow {
  start: number[];
  dur: number[];
  name: number[];
  id: number[];
  color: number[];
}
export interface Packed {
  names: string[];
  categories: string[];
  tracks: { track: number; upper_rows: number; rows: PackedRow[] }[];
}

interface Row {
  start: Float64Array;
  end: Float64Array;
  name: Uint32Array;
  id: Uint32Array;
  color: Uint8Array;
}
interface PackTrack {
  track: number;
  upper_rows: number;
  rows: Row[];
}

export interface PackPlace {
  track: number;
  depth: number;
  row: Row;
  at: number;
}

const kNameLength = 120; // characters of a name in a window of slices
const kMostNames = 200; // of an area

export const window_name = (text: string): string => (text.length > kNameLength ? `${text.slice(0, kNameLength)}…` : text);

const running_sum = (values: number[]): Float64Array => {
  const sums = new Float64Array(values.length);
  let sum = 0;
  values.forEach((value, i) => (sums[i] = sum += value));
  return sums;
};

// The packed answer as it was before it was compressed.
export async function unpacked<T>(answer: unknown): Promise<T> {
  const { gzip } = answer as { gzip?: string };
  if (gzip === undefined) return answer as T;
  const bytes = Uint8Array.from(atob(gzip), (digit) => digit.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as T;
}

export class SlicePack {
  private readonly tracks: PackTrack[];
  readonly names: string[];
  private readonly categories: string[];
  private places: Map<number, PackPlace> | null = null; // by id, filled on first use

  constructor(packed: Packed) {
    this.names = packed.names;
    this.categories = packed.categories;
    this.tracks = packed.tracks.map(({ track, upper_rows, rows }) => ({
      track,
      upper_rows,
      rows: rows.map((row) => {
        const start = running_sum(row.start);
        return {
          start,
          end: start.map((value, i) => value + row.dur[i]!),
          name: Uint32Array.from(row.name),
          id: Uint32Array.from(running_sum(row.id)),
          color: Uint8Array.from(row.color),
        };
      }),
    }));
  }

  // As /api/v1/slices answers: exact slices of at least a bucket, shorter ones summed up in the bucket where they start.
  window(track: number, from: number, to: number, px: number): Slices {
    const width = 2 ** Math.ceil(Math.log2(Math.max(1, (to - from) / px)));
    const begin = Math.floor(from / width) * width;
    const count = Math.max(1, Math.ceil((to - begin) / width));
    const known = new Map<number, number>();
    const names: string[] = [];
    const name_at = (name: number): number => {
      let at = known.get(name);
      if (at === undefined) {
        known.set(name, (at = names.length));
        names.push(window_name(this.names[name]!));
      }
      return at;
    };
    const rows = this.tracks.find((each) => each.track === track)?.rows ?? [];
    const depths = rows.map((row, depth) => row_window(row, depth, begin, width, count, name_at));
    return {
      track,
      from: begin,
      to: begin + count * width,
      bucket_ns: width,
      depths: depths.filter(({ slices, buckets }) => slices.id.length || buckets.id.length),
      names,
      categories: this.categories,
    };
  }

  place(id: number): PackPlace | null {
    if (!this.places) {
      this.places = new Map();
      for (const { track, rows } of this.tracks)
        rows.forEach((row, depth) => row.id.forEach((each, at) => this.places!.set(each, { track, depth, row, at })));
    }
    return this.places.get(id) ?? null;
  }
  hit({ track, depth, row, at }: PackPlace): Hit & { category: string; depth: number } {
    return {
      id: row.id[at]!,
      name: this.names[row.name[at]!]!,
      category: this.categories[row.color[at]!] ?? "",
      track,
      depth,
      start_ns: row.start[at]!,
      dur_ns: row.end[at]! - row.start[at]!,
    };
  }

  // All slices of these names, in order of time.
  named(wanted: Uint8Array): PackPlace[] {
    const found: PackPlace[] = [];
    for (const { track, rows } of this.tracks)
      rows.forEach((row, depth) => row.name.forEach((name, at) => wanted[name] && found.push({ track, depth, row, at })));
    return found.sort((a, b) => a.row.start[a.at]! - b.row.start[b.at]! || a.row.id[a.at]! - b.row.id[b.at]!);
  }

  // `groups`: whose streams are of which device.
  area(from: number, to: number, tracks: number[], window_ns: number, groups: TrackGroup[]): Area {
    const by_name = new Map<string, AreaRow>();
    const by_category = new Map<string, AreaRow>();
    let slices = 0;
    for (const { track, rows } of this.tracks) {
      if (tracks.length && !tracks.includes(track)) continue;
      for (const row of rows) {
        each_in(row, from, to, (at) => {
          const inside = Math.min(row.end[at]!, to) - Math.max(row.start[at]!, from);
          const category = this.categories[row.color[at]!] ?? "";
          ++slices;
          add(by_name, `${category}\n${row.name[at]!}`, this.names[row.name[at]!]!, category, inside);
          add(by_category, category, category, category, inside);
        });
      }
    }
    return { busy_pct: this.busy(from, to, window_ns, groups), by_name: largest(by_name), by_category: largest(by_category), slices };
  }

  private busy(from: number, to: number, window_ns: number, groups: TrackGroup[]): Record<string, number> {
    const work = new Map<number, [number, number][]>(); // by device
    for (const info of groups.flatMap((group) => group.tracks)) {
      if (info.kind !== "stream" || info.device === null) continue;
      const parts = work.get(info.device) ?? [];
      work.set(info.device, parts);
      const track = this.tracks.find((each) => each.track === info.id);
      for (const row of track?.rows.slice(track.upper_rows) ?? [])
        each_in(row, Math.max(0, from), Math.min(to, window_ns), (at) =>
          parts.push([Math.max(row.start[at]!, from, 0), Math.min(row.end[at]!, to, window_ns)]),
        );
    }
    return Object.fromEntries([...work].map(([device, parts]) => [device, (100 * union_length(parts)) / Math.max(1, to - from)]));
  }
}

// Slices that start in [from, to) or reach into it.
function each_in(row: Row, from: number, to: number, visit: (at: number) => void): void {
  let at = lower_bound(row.start, from);
  while (at > 0 && row.end[at - 1]! > from) --at;
  for (; at < row.start.length && row.start[at]! < to; ++at) if (row.end[at]! >= from) visit(at);
}

function lower_bound(values: Float64Array, limit: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function union_length(parts: [number, number][]): number {
  let [sum, reached] = [0, -Infinity];
  for (const [start, end] of parts.sort((a, b) => a[0] - b[0])) {
    sum += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return sum;
}

function row_window(row: Row, depth: number, begin: number, width: number, count: number, name_at: (name: number) => number): Slices["depths"][number] {
  const slices = { start: [] as number[], dur: [] as number[], name: [] as number[], id: [] as number[], color: [] as number[] };
  const covered = new Map<number, { count: number; busy: number; best: number; at: number }>();
  const bucket = (index: number): { count: number; busy: number; best: number; at: number } => {
    let found = covered.get(index);
    if (!found) covered.set(index, (found = { count: 0, busy: 0, best: -1, at: 0 }));
    return found;
  };
  const end = begin + count * width;
  each_in(row, begin, end, (at) => {
    const [from, to] = [row.start[at]!, row.end[at]!];
    if (to - from >= width) {
      slices.start.push(from);
      slices.dur.push(to - from);
      slices.name.push(name_at(row.name[at]!));
      slices.id.push(row.id[at]!);
      slices.color.push(row.color[at]!);
      return;
    }
    const first = Math.floor((from - begin) / width);
    if (first >= 0) bucket(first).count += 1;
    for (let index = Math.max(0, first); index < count && begin + index * width <= to; ++index) {
      const part = Math.min(to, begin + (index + 1) * width) - Math.max(from, begin + index * width);
      if (part <= 0 && index !== first) continue;
      const found = bucket(index);
      found.busy += Math.max(0, part);
      if (to - from > found.best) [found.best, found.at] = [to - from, at];
    }
  });
  const buckets = { at: [] as number[], count: [] as number[], busy: [] as number[], name: [] as number[], id: [] as number[], color: [] as number[] };
  for (const [index, found] of [...covered].sort((a, b) => a[0] - b[0])) {
    buckets.at.push(index);
    buckets.count.push(found.count);
    const share = Math.min(1, found.busy / width);
    buckets.busy.push(share === 0 ? 0 : Math.max(1, Math.floor(share * 255)));
    buckets.name.push(name_at(row.name[found.at]!));
    buckets.id.push(row.id[found.at]!);
    buckets.color.push(row.color[found.at]!);
  }
  return { depth, slices, buckets };
}

function add(rows: Map<string, AreaRow>, key: string, name: string, category: string, time_ns: number): void {
  const row = rows.get(key) ?? { name, category, count: 0, total_ns: 0, self_ns: null };
  row.count += 1;
  row.total_ns += time_ns;
  rows.set(key, row);
}

function largest(rows: Map<string, AreaRow>): AreaRow[] {
  const order = (a: AreaRow, b: AreaRow): number => b.total_ns - a.total_ns || (a.name < b.name ? -1 : 1);
  return [...rows.values()].sort(order).slice(0, kMostNames);
}
