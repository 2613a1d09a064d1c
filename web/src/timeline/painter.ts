// Draws slices on the canvas. Whatever is narrower than a pixel and a half is summed into coverage per pixel and drawn as a bar of that
// height: a lane is never shown busier than it was, and idle stays visible at any zoom.
import type { Paint } from "../ui/palette";
import type { Lit } from "./state";
import { label_of, type Lane, type Piece, type Tile } from "./tile";

const kThin = 1.5; // px
const kLabelFrom = 26; // px: narrower slices carry no text
const kFont = '11px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export interface Frame {
  context: CanvasRenderingContext2D;
  width: number; // css px
  from: number; // ns at x = 0
  scale: number; // px per ns
  paints: Paint[];
  lit: Lit | null; // names that the search does not mean are drawn dim
  grain: number; // css px that share one bar of coverage: coarser while the view moves
  late: boolean; // the time of the frame is used up: no names
}

export class Painter {
  private cover = new Float32Array(0);
  private best = new Float32Array(0);
  private colour = new Int32Array(0);
  private grain = 1;
  private pixels = 0; // of that grain, in the width and a little beyond
  private step = 1; // px between the heights of bars: neighbours of one height are one rectangle
  private low = 0;
  private high = 0;
  private readonly widths: (number | undefined)[] = []; // of characters, by their code
  // Bars of a row that are to be drawn, ink by ink. Arrays that live as long as the painter: a frame leaves no garbage behind.
  private bar_x = new Int32Array(0);
  private bar_width = new Int32Array(0);
  private bar_height = new Float32Array(0);
  private bar_before = new Int32Array(0); // the one before it of the same ink; 0: none
  private bars_used = 0;
  private heads = new Int32Array(0); // the last bar of an ink, by slot_of
  private inks = new Int32Array(0); // those with bars
  private inks_used = 0;
  private readonly labels: { text: string; x: number; width: number; colour: string }[] = [];

  begin(width: number, grain: number): void {
    this.grain = grain;
    this.step = grain > 1 ? 2 : 1;
    this.pixels = Math.ceil(width / grain) + 2;
    if (this.cover.length >= this.pixels) return;
    this.cover = new Float32Array(Math.ceil(width) + 2); // enough for any grain
    this.best = new Float32Array(this.cover.length);
    this.colour = new Int32Array(this.cover.length);
    this.bar_x = new Int32Array(this.cover.length + 1);
    this.bar_width = new Int32Array(this.cover.length + 1);
    this.bar_height = new Float32Array(this.cover.length + 1);
    this.bar_before = new Int32Array(this.cover.length + 1);
    this.inks = new Int32Array(this.cover.length + 1);
  }

  // Draws one depth of a track; returns how many pixels of the row are covered.
  row(frame: Frame, pieces: readonly Piece[], depth: number, y: number, height: number, with_text: boolean): number {
    this.low = this.pixels;
    this.high = 0;
    this.labels.length = 0;
    let covered = 0;
    for (let i = 0; i < pieces.length; ++i) {
      const piece = pieces[i]!;
      const lane = piece.tile.lanes[depth];
      if (!lane) continue;
      const hit = matches(piece.tile, frame.lit);
      covered += this.slices(frame, lane, piece, y, height, hit, with_text);
      this.buckets(frame, lane, piece, hit);
    }
    covered += this.flush(frame, y, height);
    if (this.labels.length) this.texts(frame.context, y + height / 2);
    return covered;
  }

  private slices(
    frame: Frame,
    lane: Lane,
    { tile, from, to }: Piece,
    y: number,
    height: number,
    hit: Uint8Array | null,
    with_text: boolean,
  ): number {
    const { context, scale, width, paints } = frame;
    const left = Math.max(from, frame.from);
    const right = Math.min(to, frame.from + width / scale);
    const { start, end, paint, name } = lane;
    let covered = 0;
    let current = -1;
    for (let i = first_after(end, left); i < start.length && start[i]! < right; ++i) {
      const x0 = (start[i]! - frame.from) * scale;
      const x1 = (end[i]! - frame.from) * scale;
      const dim = hit !== null && !hit[name[i]!];
      const ink = dim ? -paint[i]! - 2 : paint[i]!;
      if (x1 - x0 < kThin) {
        this.add(Math.max(x0, (from - frame.from) * scale), Math.min(x1, (to - frame.from) * scale), 1, ink);
        continue;
      }
      const a = Math.max(-4, Math.round(x0));
      const b = Math.min(width + 4, Math.max(a + 1, Math.round(x1)));
      if (ink !== current) {
        const found = paints[paint[i]!]!;
        context.fillStyle = dim ? found.dim : found.fill;
        current = ink;
      }
      const gap = b - a > 3 ? 1 : 0;
      if (dim) {
        // seen through: each tile paints its own part of a slice that several of them hold
        const begin = Math.max(a, Math.round((from - frame.from) * scale));
        const end = Math.min(b - gap, Math.round((to - frame.from) * scale));
        if (end > begin) context.fillRect(begin, y, end - begin, height);
      } else context.fillRect(a, y, b - a - gap, height);
      covered += Math.max(0, Math.min(width, b, (to - frame.from) * scale) - Math.max(0, a, (from - frame.from) * scale));
      const named_before = start[i]! < from && from > frame.from; // by the tile to the left
      if (with_text && b - a > kLabelFrom && !dim && !named_before)
        this.label(label_of(tile, name[i]!), a, b, width, paints[paint[i]!]!.text);
    }
    return covered;
  }

  private buckets(frame: Frame, lane: Lane, { tile: { bucket_ns }, from, to }: Piece, hit: Uint8Array | null): void {
    const left = Math.max(from, frame.from);
    const right = Math.min(to, frame.from + frame.width / frame.scale);
    const at = lane.bucket_at;
    for (let i = first_after(at, left - bucket_ns); i < at.length && at[i]! < right; ++i) {
      const x0 = (Math.max(at[i]!, from) - frame.from) * frame.scale; // a bucket on the edge of two pieces is in both of them
      const x1 = (Math.min(at[i]! + bucket_ns, to) - frame.from) * frame.scale;
      const dim = hit !== null && !hit[lane.bucket_name[i]!];
      const paint = lane.bucket_paint[i]!;
      this.add(x0, x1, lane.bucket_share[i]!, dim ? -paint - 2 : paint);
    }
  }

  private add(x0: number, x1: number, share: number, ink: number): void {
    const last = this.pixels - 2;
    const a = Math.max(0, x0 / this.grain);
    const b = Math.min(last, x1 / this.grain);
    for (let p = Math.floor(a); p < b; ++p) {
      const part = (Math.min(b, p + 1) - Math.max(a, p)) * share;
      this.cover[p]! += part;
      if (part >= this.best[p]!) {
        this.best[p] = part;
        this.colour[p] = ink;
      }
      if (p < this.low) this.low = p;
      if (p >= this.high) this.high = p + 1;
    }
  }

  // Pixels of one colour and height are one rectangle; all of one colour are drawn together, as changing it costs more than drawing.
  private flush(frame: Frame, y: number, height: number): number {
    let covered = 0;
    let run = this.low;
    let run_ink = 0;
    let run_height = 0;
    for (let p = this.low; p <= this.high; ++p) {
      const share = p < this.high ? Math.min(1, this.cover[p]!) : 0;
      const tall = p < this.high && this.best[p]! > 0 ? Math.max(1, Math.round((share * height) / this.step) * this.step) : 0;
      const ink = tall ? this.colour[p]! : 0;
      covered += share;
      if (tall !== run_height || ink !== run_ink) {
        if (run_height) this.bar(run_ink, run * this.grain, (p - run) * this.grain, run_height);
        run = p;
        run_ink = ink;
        run_height = tall;
      }
      this.cover[p] = 0;
      this.best[p] = 0;
    }
    this.draw_bars(frame, y + height);
    return covered * this.grain;
  }

  // Bars of one ink are a list from the last to the first.
  private bar(ink: number, x: number, width: number, height: number): void {
    const slot = slot_of(ink);
    if (slot >= this.heads.length) this.heads = grown(this.heads, slot + 1);
    if (!this.heads[slot]) this.inks[this.inks_used++] = ink;
    const at = ++this.bars_used; // 0 ends a list
    this.bar_x[at] = x;
    this.bar_width[at] = width;
    this.bar_height[at] = height;
    this.bar_before[at] = this.heads[slot]!;
    this.heads[slot] = at;
  }

  private draw_bars({ context, paints }: Frame, bottom: number): void {
    for (let i = 0; i < this.inks_used; ++i) {
      const ink = this.inks[i]!;
      const slot = slot_of(ink);
      context.fillStyle = ink < 0 ? paints[-ink - 2]!.dim : paints[ink]!.fill;
      for (let at = this.heads[slot]!; at; at = this.bar_before[at]!)
        context.fillRect(this.bar_x[at]!, bottom - this.bar_height[at]!, this.bar_width[at]!, this.bar_height[at]!);
      this.heads[slot] = 0;
    }
    this.inks_used = 0;
    this.bars_used = 0;
  }

  private label(text: string, a: number, b: number, width: number, colour: string): void {
    const x = Math.max(0, a) + 4;
    const room = Math.min(width, b) - x - 4;
    if (room > kLabelFrom - 8) this.labels.push({ text, x, width: room, colour });
  }

  private texts(context: CanvasRenderingContext2D, y: number): void {
    context.font = kFont;
    context.textBaseline = "middle";
    let colour = "";
    for (const label of this.labels) {
      if (label.colour !== colour) context.fillStyle = colour = label.colour;
      context.fillText(this.fit(context, label.text, label.width), label.x, y + 0.5);
    }
  }

  // As much of the text as fits, by the widths of its characters, each measured once. A long text is walked only as far as there is room.
  private fit(context: CanvasRenderingContext2D, text: string, room: number): string {
    const limit = room - this.width_of(context, 0x2026);
    let kept = 0;
    let x = 0;
    for (let i = 0; i < text.length; ++i) {
      x += this.width_of(context, text.charCodeAt(i));
      if (x > room) return kept ? `${text.slice(0, kept)}…` : "";
      if (x <= limit) kept = i + 1;
    }
    return text;
  }

  private width_of(context: CanvasRenderingContext2D, code: number): number {
    const known = this.widths[code];
    return known !== undefined ? known : (this.widths[code] = context.measureText(String.fromCharCode(code)).width);
  }
}

// Inks are paints, or -2 and below where they are dim.
const slot_of = (ink: number): number => (ink < 0 ? 2 * (-ink - 2) + 1 : 2 * ink);

function grown(values: Int32Array<ArrayBuffer>, least: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(least, 2 * values.length, 64));
  larger.set(values);
  return larger;
}

// Index of the first value above `limit`; values ascend.
export function first_after(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

function matches(tile: Tile, lit: Lit | null): Uint8Array | null {
  if (!lit) return null;
  if (tile.matches?.key !== lit.key) {
    const means = (name: string): boolean => (lit.names ? lit.names.has(name) : name.toLowerCase().includes(lit.key));
    tile.matches = { key: lit.key, hit: Uint8Array.from(tile.names, (name) => (means(name) ? 1 : 0)) };
  }
  return tile.matches.hit;
}
