// A tile: the slices of one track and one part of time, as typed arrays in one buffer. Made from the server's answer wherever that is read, in the page
// or in tile_worker.ts; what crosses from there to here is a PackedTile.
import type { Slices } from "../api/types";
import { shorten, visible } from "../ui/dom";
import type { Paints } from "../ui/palette";

const kLabelLength = 160;

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
  used: number; // the frame that drew it last
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

// A tile on its way between threads: its numbers in one buffer, which changes hands, and how many slices and buckets each depth has in it.
export interface PackedTile {
  from: number;
  to: number;
  bucket_ns: number;
  depths: number[]; // depth, slices, buckets; and again
  buffer: ArrayBuffer;
  names: string[];
}

// The arrays of a tile lie in one buffer: a browser that has to look after a hundred small ones for every tile stops for it in the middle of a move.
const kSliceBytes = 8 + 8 + 4 + 4 + 2;
const kBucketBytes = 8 + 4 + 4 + 4 + 4 + 2;
const kRoom = 8; // bytes that an array may lose to begin at a multiple of 8

class Room {
  private used = 0;

  constructor(private readonly buffer: ArrayBuffer) {}

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

export function pack(answer: Slices, paints: Paints): PackedTile {
  const kinds = answer.categories.length + 1;
  const known: (number | undefined)[] = []; // by name and category: the same few come again and again
  const paint = (name: number, colour: number | undefined): number =>
    (known[name * kinds + (colour ?? kinds - 1)] ??= paints.of(
      colour === undefined ? "" : (answer.categories[colour] ?? ""),
      answer.names[name] ?? "",
    ));
  const bytes = (sum: number, { slices, buckets }: Slices["depths"][number]): number =>
    sum + slices.id.length * kSliceBytes + buckets.id.length * kBucketBytes + 11 * kRoom;
  const buffer = new ArrayBuffer(answer.depths.reduce(bytes, 0));
  const room = new Room(buffer);
  const depths: number[] = [];
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
    depths.push(depth, slices.id.length, buckets.id.length);
  }
  return { from: answer.from, to: answer.to, bucket_ns: answer.bucket_ns, depths, buffer, names: answer.names };
}

export function unpack({ from, to, bucket_ns, depths, buffer, names }: PackedTile): Tile {
  const lanes: (Lane | undefined)[] = [];
  const room = new Room(buffer);
  for (let i = 0; i < depths.length; i += 3) lanes[depths[i]!] = room.lane(depths[i + 1]!, depths[i + 2]!);
  return { from, to, bucket_ns, lanes, names, labels: [], matches: null, named: { name: "", at: -1 }, used: 0 };
}
