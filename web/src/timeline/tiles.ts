// The slices that the canvas needs, as tiles of typed arrays. Level L holds 2^L ns a bucket; a tile is kTilePixels buckets, aligned at
// multiples of its length, so the tile above covers two of this level and stands in until the finer one has come.
//
//   1. A tile never changes; the store forgets the longest unused ones.
//   2. What a frame did not ask for and is still under way is cancelled; so is everything when the store is closed.
//   3. Requests are made between frames, one a turn, and one a frame while the view moves: to begin one takes a browser a
//      third of a millisecond, its answer as much again, and many are cancelled by the next frame.
//   4. A source with fixed answers has one tile per track: the whole window.
import type { DataSource } from "../api/source";
import type { Slices } from "../api/types";
import { shorten, visible } from "../ui/dom";
import type { Paints } from "../ui/palette";

export const kTilePixels = 1024;
const kMostTiles = 900;
const kUnderWay = 6; // as many connections as a browser opens to one host
const kAskedAFrame = 1; // requests, while the view moves
const kLabelLength = 160;
const kRetry_ms = 3000;

// One depth of a tile. Slices are at least a bucket long and exact; everything shorter is in buckets with its share of busy time.
export interface Lane {
  start: Float64Array;
  end: Float64Array;
  name: Uint32Array;
  id: Uint32Array;
  paint: Uint16Array;
  bucket_at: Float64Array; // start of the bucket, ns
  bucket_share: Float32Array; // 0..1
  bucket_count: Uint32Array;
  bucket_name: Uint32Array;
  bucket_id: Uint32Array;
  bucket_paint: Uint16Array;
}

export interface Tile {
  from: number;
  to: number;
  bucket_ns: number;
  lanes: (Lane | undefined)[]; // by depth
  names: string[];
  labels: (string | undefined)[]; // names fit for drawing: short, no control or direction characters; see label_of
  matches: { key: string; hit: Uint8Array } | null; // which names the search hits; filled by the painter
  named: { name: string; at: number }; // the name that was looked for last
}

// A tile, and the part of time for which it is to be drawn.
export interface Piece {
  tile: Tile;
  from: number;
  to: number;
}

const drawable = (text: string): string => shorten(visible(text.slice(0, kLabelLength * 2)), kLabelLength);

// Made when it is first drawn: most names of a tile never are.
export function label_of(tile: Tile, name: number): string {
  return (tile.labels[name] ??= drawable(tile.names[name] ?? ""));
}

// The arrays of a tile lie in one buffer: a browser that has to look after a hundred small ones for every tile stops for it in the middle of a move.
const kSliceBytes = 8 + 8 + 4 + 4 + 2;
const kBucketBytes = 8 + 4 + 4 + 4 + 4 + 2;
const kRoom = 8; // bytes that an array may lose to begin at a multiple of 8

class Room {
  private readonly buffer: ArrayBuffer;
  private used = 0;

  constructor(depths: Slices["depths"]) {
    const bytes = (sum: number, { slices, buckets }: Slices["depths"][number]): number =>
      sum + slices.id.length * kSliceBytes + buckets.id.length * kBucketBytes + 11 * kRoom;
    this.buffer = new ArrayBuffer(depths.reduce(bytes, 0));
  }

  lane(slices: number, buckets: number): Lane {
    return {
      start: new Float64Array(this.buffer, this.take(8 * slices), slices),
      end: new Float64Array(this.buffer, this.take(8 * slices), slices),
      name: new Uint32Array(this.buffer, this.take(4 * slices), slices),
      id: new Uint32Array(this.buffer, this.take(4 * slices), slices),
      paint: new Uint16Array(this.buffer, this.take(2 * slices), slices),
      bucket_at: new Float64Array(this.buffer, this.take(8 * buckets), buckets),
      bucket_share: new Float32Array(this.buffer, this.take(4 * buckets), buckets),
      bucket_count: new Uint32Array(this.buffer, this.take(4 * buckets), buckets),
      bucket_name: new Uint32Array(this.buffer, this.take(4 * buckets), buckets),
      bucket_id: new Uint32Array(this.buffer, this.take(4 * buckets), buckets),
      bucket_paint: new Uint16Array(this.buffer, this.take(2 * buckets), buckets),
    };
  }

  private take(bytes: number): number {
    const at = this.used;
    this.used += Math.ceil(bytes / kRoom) * kRoom;
    return at;
  }
}

function decode(answer: Slices, paints: Paints): Tile {
  const lanes: (Lane | undefined)[] = [];
  const kinds = answer.categories.length + 1;
  const known: (number | undefined)[] = []; // by name and category: the same few come again and again
  const paint = (name: number, colour: number | undefined): number =>
    (known[name * kinds + (colour ?? kinds - 1)] ??= paints.of(
      colour === undefined ? "" : (answer.categories[colour] ?? ""),
      answer.names[name] ?? "",
    ));
  const room = new Room(answer.depths);
  for (const { depth, slices, buckets } of answer.depths) {
    const lane = room.lane(slices.id.length, buckets.id.length);
    for (let i = 0; i < lane.id.length; ++i) {
      lane.start[i] = slices.start[i]!;
      lane.end[i] = slices.start[i]! + slices.dur[i]!;
      lane.name[i] = slices.name[i]!;
      lane.id[i] = slices.id[i]!;
      lane.paint[i] = paint(slices.name[i]!, slices.color[i]);
    }
    for (let i = 0; i < lane.bucket_id.length; ++i) {
      lane.bucket_at[i] = answer.from + buckets.at[i]! * answer.bucket_ns;
      lane.bucket_share[i] = buckets.busy[i]! / 255;
      lane.bucket_count[i] = buckets.count[i]!;
      lane.bucket_name[i] = buckets.name[i]!;
      lane.bucket_id[i] = buckets.id[i]!;
      lane.bucket_paint[i] = paint(buckets.name[i]!, buckets.color?.[i]);
    }
    lanes[depth] = lane;
  }
  return {
    from: answer.from,
    to: answer.to,
    bucket_ns: answer.bucket_ns,
    lanes,
    names: answer.names,
    labels: [],
    matches: null,
    named: { name: "", at: -1 },
  };
}

// The store as others see it.
export type Tiles = Pick<TileStore, "loading" | "held" | "begin" | "end" | "rest" | "pieces" | "name_at" | "close">;

interface Wanted {
  key: string;
  track: number;
  level: number;
  index: number;
}

export class TileStore {
  private readonly tiles = new Map<string, Tile>(); // in order of last use
  private readonly under_way = new Map<string, AbortController>();
  private readonly failed = new Map<string, number>(); // key -> when it may be tried again
  private wanted: Wanted[] = [];
  private turn = 0; // the timer of the next request
  private again = 0; // the timer that asks once more for what failed
  private closed = false;
  private readonly top: number; // the level at which one or two tiles hold the window

  constructor(
    private readonly source: DataSource,
    private readonly t: number,
    private readonly window_ns: number,
    private readonly paints: Paints,
    private readonly changed: (track: number) => void,
    private readonly missing: () => void, // something in sight is to be asked for again
  ) {
    this.top = Math.max(0, Math.ceil(Math.log2(Math.max(1, window_ns) / kTilePixels)));
  }

  get loading(): number {
    return this.under_way.size + this.wanted.length;
  }
  get held(): number {
    return this.tiles.size;
  }

  // Between begin() and end() what is missing is asked for; else pieces() only tells what is there.
  begin(moving: boolean): void {
    this.wanted = [];
    this.asking = true;
    this.left = moving ? kAskedAFrame : Infinity;
  }
  private asking = false;
  private left = Infinity; // requests that may be made until the next frame

  // The view has come to rest: whatever is missing is asked for.
  rest(): void {
    this.left = Infinity;
    this.ask_soon();
  }

  // What can be drawn of [from, to) now, and notes what is still missing.
  pieces(track: number, from: number, to: number, ns_per_px: number): Piece[] {
    if (this.source.fixed) return this.whole(track);
    const level = Math.min(this.top, Math.max(0, Math.floor(Math.log2(ns_per_px))));
    const length = kTilePixels * 2 ** level;
    const first = Math.max(0, Math.floor(from / length));
    const last = Math.floor(Math.min(to, this.window_ns) / length);
    const pieces: Piece[] = [];
    for (let index = first; index <= last; ++index) {
      const tile = this.touch(key_of(track, level, index)) ?? this.miss(track, level, index);
      if (tile) pieces.push({ tile, from: index * length, to: (index + 1) * length });
    }
    return pieces;
  }

  // The index of a name in a tile; -1: it has no slice of that name.
  name_at(tile: Tile, name: string): number {
    if (tile.named.name !== name) tile.named = { name, at: tile.names.indexOf(name) };
    return tile.named.at;
  }

  // Cancels what this frame did not want and asks for the rest, first wanted first.
  end(): void {
    this.asking = false;
    const keys = new Set(this.wanted.map((each) => each.key));
    for (const [key, control] of this.under_way) {
      if (keys.has(key)) continue;
      control.abort();
      this.under_way.delete(key);
    }
    this.wanted = this.wanted.filter((each) => !this.under_way.has(each.key));
    this.ask_soon();
  }

  close(): void {
    this.closed = true;
    this.wanted = [];
    clearTimeout(this.turn);
    clearTimeout(this.again);
    for (const control of this.under_way.values()) control.abort();
  }

  private whole(track: number): Piece[] {
    const tile = this.touch(key_of(track, 0, 0));
    if (tile) return [{ tile, from: tile.from, to: tile.to }];
    this.want({ key: key_of(track, 0, 0), track, level: 0, index: 0 });
    return [];
  }

  private miss(track: number, level: number, index: number): Tile | undefined {
    this.want({ key: key_of(track, level, index), track, level, index });
    for (let up = level + 1; up <= this.top; ++up) {
      const tile = this.tiles.get(key_of(track, up, Math.floor(index / 2 ** (up - level))));
      if (tile) return tile;
    }
    return undefined;
  }

  private want(wanted: Wanted): void {
    if (this.asking && (this.failed.get(wanted.key) ?? 0) < Date.now()) this.wanted.push(wanted);
  }

  private touch(key: string): Tile | undefined {
    const tile = this.tiles.get(key);
    if (tile) {
      this.tiles.delete(key);
      this.tiles.set(key, tile);
    }
    return tile;
  }

  private ask_soon(): void {
    if (this.turn || this.closed || this.left <= 0 || !this.wanted.length || this.under_way.size >= kUnderWay) return;
    this.turn = window.setTimeout(() => {
      this.turn = 0;
      const next = this.wanted.shift();
      if (next && !this.under_way.has(next.key) && !this.tiles.has(next.key)) {
        this.left -= 1;
        void this.ask(next);
      }
      this.ask_soon();
    }, 0);
  }

  private async ask(wanted: Wanted): Promise<void> {
    const { key, track, level, index } = wanted;
    const length = kTilePixels * 2 ** level;
    const control = new AbortController();
    this.under_way.set(key, control);
    const range: [number, number] = this.source.fixed ? [0, this.window_ns] : [index * length, (index + 1) * length];
    try {
      const answer = await this.source.slices(this.t, track, ...range, kTilePixels, control.signal);
      if (!control.signal.aborted) this.keep(key, track, decode(answer, this.paints));
    } catch {
      if (!control.signal.aborted) this.fail(key);
    } finally {
      if (this.under_way.get(key) === control) this.under_way.delete(key);
      this.ask_soon();
    }
  }

  // It is asked for again by a later frame, and one is drawn even if nothing moves until then.
  private fail(key: string): void {
    this.failed.set(key, Date.now() + kRetry_ms);
    clearTimeout(this.again);
    this.again = window.setTimeout(() => this.missing(), kRetry_ms + 1);
  }

  private keep(key: string, track: number, tile: Tile): void {
    this.tiles.set(key, tile);
    for (const oldest of this.tiles.keys()) {
      if (this.tiles.size <= kMostTiles) break;
      this.tiles.delete(oldest);
    }
    this.changed(track);
  }
}

const key_of = (track: number, level: number, index: number): string => `${track}/${level}/${index}`;
