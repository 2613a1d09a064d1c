// The slices that the canvas needs, as tiles. Level L holds 2^L ns a bucket; a tile is kTilePixels buckets, aligned at multiples of its length, so the
// tile above covers two of this level and stands in until the finer one has come.
//
//   1. A tile never changes; the store forgets the longest unused ones.
//   2. What a frame did not ask for and is still under way is cancelled; so is everything when the store is closed.
//   3. While the view moves one request is made a frame: many are cancelled by the next one. Where a request costs the page (tile_source.ts) it is made
//      between frames, one a turn.
//   4. A source without windows has one tile per track: all of its time.
//   5. A frame makes nothing that the one before it has made: the pieces of a track are kept until another part of time, level or tile is to be drawn.
import type { DataSource } from "../api/source";
import type { Paints } from "../ui/palette";
import type { Piece, Tile } from "./tile";
import { open_tiles, type TileSource } from "./tile_source";

export const kTilePixels = 1024;
const kMostTiles = 900;
const kForgotten = 100; // at once
const kUnderWay = 6; // as many connections as a browser opens to one host
const kAskedAFrame = 1; // requests, while the view moves
const kRetry_ms = 3000;

// The store as others see it.
export type Tiles = Pick<TileStore, "loading" | "held" | "begin" | "end" | "rest" | "pieces" | "name_at" | "close">;

interface Wanted {
  key: string;
  track: number;
  level: number;
  index: number;
}

// What was drawn of a track last.
interface Drawn {
  level: number;
  first: number; // index of the first tile
  last: number;
  pieces: Piece[];
  whole: boolean; // nothing is missing
}

const kNothing: Piece[] = [];

export class TileStore {
  private readonly tiles = new Map<string, Tile>();
  private readonly drawn = new Map<number, Drawn>(); // by track
  private readonly under_way = new Map<string, () => void>(); // key -> gives it up
  private readonly failed = new Map<string, number>(); // key -> when it may be tried again
  private readonly tile_source: TileSource;
  private wanted: Wanted[] = [];
  private turn = 0; // the timer of the next request
  private again = 0; // the timer that asks once more for what failed
  private frame = 0; // a number that grows from frame to frame
  private closed = false;
  private readonly windows: boolean;
  private readonly top: number; // the level at which one or two tiles hold the window

  constructor(
    source: DataSource,
    t: number,
    private readonly window_ns: number,
    paints: Paints,
    private readonly changed: (track: number) => void,
    private readonly missing: () => void, // something in sight is to be asked for again
  ) {
    this.tile_source = open_tiles(source, t, paints);
    this.windows = source.windows(t);
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
    this.frame += 1;
    this.wanted.length = 0;
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

  // What can be drawn of [from, to) now, and notes what is still missing. The list is the store's own, and good until it is asked again.
  pieces(track: number, from: number, to: number, ns_per_px: number): readonly Piece[] {
    if (track < 0) return kNothing; // a counter
    if (!this.windows) return this.of_window(track);
    const level = Math.min(this.top, Math.max(0, Math.floor(Math.log2(ns_per_px))));
    const length = kTilePixels * 2 ** level;
    const first = Math.max(0, Math.floor(from / length));
    const last = Math.floor(Math.min(to, this.window_ns) / length);
    let drawn = this.drawn.get(track);
    if (!drawn?.whole || drawn.level !== level || drawn.first !== first || drawn.last !== last) {
      drawn = this.collect(track, level, first, last);
      this.drawn.set(track, drawn);
    }
    for (const { tile } of drawn.pieces) tile.used = this.frame;
    return drawn.pieces;
  }

  private collect(track: number, level: number, first: number, last: number): Drawn {
    const length = kTilePixels * 2 ** level;
    const drawn: Drawn = { level, first, last, pieces: [], whole: true };
    for (let index = first; index <= last; ++index) {
      const key = key_of(track, level, index);
      let tile = this.tiles.get(key);
      if (!tile) {
        drawn.whole = false;
        this.want(key, track, level, index);
        tile = this.above(track, level, index);
      }
      if (tile) drawn.pieces.push({ tile, from: index * length, to: (index + 1) * length });
    }
    return drawn;
  }

  // The index of a name in a tile; -1: it has no slice of that name.
  name_at(tile: Tile, name: string): number {
    if (tile.named.name !== name) tile.named = { name, at: tile.names.indexOf(name) };
    return tile.named.at;
  }

  // Cancels what this frame did not want and asks for the rest, first wanted first.
  end(): void {
    this.asking = false;
    for (const [key, give_up] of this.under_way) {
      if (this.wanted.some((each) => each.key === key)) continue;
      this.under_way.delete(key);
      give_up();
    }
    if (this.under_way.size) this.wanted = this.wanted.filter((each) => !this.under_way.has(each.key));
    this.ask_soon();
  }

  close(): void {
    this.closed = true;
    this.wanted = [];
    clearTimeout(this.turn);
    clearTimeout(this.again);
    this.under_way.clear();
    this.tile_source.close();
  }

  private of_window(track: number): readonly Piece[] {
    const key = key_of(track, 0, 0);
    const tile = this.tiles.get(key);
    if (!tile) this.want(key, track, 0, 0);
    return tile ? [{ tile, from: tile.from, to: tile.to }] : kNothing;
  }

  // The nearest coarser tile over a place.
  private above(track: number, level: number, index: number): Tile | undefined {
    for (let up = level + 1; up <= this.top; ++up) {
      const tile = this.tiles.get(key_of(track, up, Math.floor(index / 2 ** (up - level))));
      if (tile) return tile;
    }
    return undefined;
  }

  private want(key: string, track: number, level: number, index: number): void {
    if (this.asking && (this.failed.get(key) ?? 0) < Date.now()) this.wanted.push({ key, track, level, index });
  }

  private get may_ask(): boolean {
    return !this.closed && this.left > 0 && this.wanted.length > 0 && this.under_way.size < kUnderWay;
  }

  private ask_soon(): void {
    while (this.tile_source.at_once && this.may_ask) this.ask_next();
    if (this.turn || !this.may_ask) return;
    this.turn = window.setTimeout(() => {
      this.turn = 0;
      this.ask_next();
      this.ask_soon();
    }, 0);
  }

  private ask_next(): void {
    const next = this.wanted.shift();
    if (!next || this.under_way.has(next.key) || this.tiles.has(next.key)) return;
    this.left -= 1;
    const { key, track, level, index } = next;
    const length = kTilePixels * 2 ** level;
    const [from, to] = this.windows ? [index * length, (index + 1) * length] : [0, this.window_ns];
    const give_up = this.tile_source.ask(track, from, to, kTilePixels, (tile) => {
      this.under_way.delete(key);
      if (tile) this.keep(key, track, tile);
      else this.fail(key);
      this.ask_soon();
    });
    this.under_way.set(key, give_up);
  }

  // It is asked for again by a later frame, and one is drawn even if nothing moves until then.
  private fail(key: string): void {
    this.failed.set(key, Date.now() + kRetry_ms);
    clearTimeout(this.again);
    this.again = window.setTimeout(() => this.missing(), kRetry_ms + 1);
  }

  private keep(key: string, track: number, tile: Tile): void {
    tile.used = this.frame;
    this.tiles.set(key, tile);
    if (this.tiles.size > kMostTiles) this.forget();
    this.changed(track);
  }

  private forget(): void {
    const oldest = [...this.tiles].sort(([, a], [, b]) => a.used - b.used).slice(0, kForgotten);
    for (const [key] of oldest) this.tiles.delete(key);
  }
}

const key_of = (track: number, level: number, index: number): string => `${track}/${level}/${index}`;
