// The lanes: a canvas over a tall scrolling box, drawn when the view or the data changes. What follows the mouse and the selection is
// drawn above it, by overlay.ts.
import { el } from "../ui/dom";
import type { Counter } from "../api/types";
import { origin_of } from "./alignment";
import { draw_counter } from "./counters";
import { kPad, type LaneBox } from "./lanes";
import { first_after, Painter, type Frame } from "./painter";
import { LaneMarks } from "./lane_marks";
import { nice_step } from "./ruler";
import type { Hovered, State } from "./state";
import { prepare, theme } from "./theme";

const kGrains = [3, 5, 8]; // px a bar: what moves is not read to the pixel, and every bar less is drawn sooner
const kLate_ms = 1.2; // into a drawing of a view that moves, what is left of it is drawn at the coarsest and without names
const kFast_ms = 0.8; // a drawing that is quicker than this makes the next one finer, one that was late coarser
const kBand = 4; // rows that are refined together
export const kRefine_ms = 1.5; // of a frame, to refine what was drawn coarsely

export interface Seen {
  box: LaneBox;
  y: number; // on the stage
}

export interface FrameStats {
  last_ms: number;
  worst_ms: number;
  frames: number;
  rehearsed: boolean; // rehearsal.ts is done
  pending: boolean; // something in sight is still coarse or out of date
  covered: Map<string, number>; // "track/depth" -> share of the visible width that the row covers, as drawn
}

export class Stage {
  readonly canvas = el("canvas", { class: "tl-canvas" });
  readonly stats: FrameStats = { last_ms: 0, worst_ms: 0, frames: 0, rehearsed: false, pending: true, covered: new Map() };
  height = 1;
  private readonly painter = new Painter();
  private seen = ""; // what the canvas shows: view, place and looks
  private readonly stale = new Map<number, number>(); // tracks in sight to be drawn anew, at full detail -> from which row on
  private arrived = false; // slices that have not been drawn
  private coarseness = kGrains.length - 1; // index in kGrains; the first drawings run code that no browser has compiled yet
  private readonly marks: LaneMarks;

  constructor(private readonly state: State) {
    this.marks = new LaneMarks(state);
  }

  // Boxes that are in sight, with their place on the stage. The list is kept until something is elsewhere.
  visible(): readonly Seen[] {
    const { lanes, scroll } = this.state;
    const { placed } = this;
    if (placed.version === lanes.version && placed.scroll === scroll && placed.height === this.height) return placed.seen;
    const top = lanes.pinned_height;
    const seen: Seen[] = lanes.pinned_boxes.map((box) => ({ box, y: box.y }));
    for (const box of lanes.boxes) {
      const y = top + box.y - scroll;
      if (y + box.height > top && y < this.height) seen.push({ box, y });
    }
    this.placed = { version: lanes.version, scroll, height: this.height, seen };
    return seen;
  }
  private placed: { version: number; scroll: number; height: number; seen: Seen[] } = { version: -1, scroll: 0, height: 0, seen: [] };

  // Draws what changed. Another view is drawn at once and coarsely; a view that rests is then refined track by track, as far as a frame's
  // budget goes (at least one), and so are tracks whose slices have come. True: there is more to refine.
  draw(refine_ms: number): boolean {
    const began = performance.now();
    const { view, lanes, moving } = this.state;
    const { theme: colours } = document.documentElement.dataset;
    const sight = [view.from, view.to, view.width, this.height, this.state.scroll, lanes.version, this.state.lit?.key, this.state.show_marks];
    const key = [...sight, colours, window.devicePixelRatio].join();
    if (key !== this.seen || (moving && this.arrived)) {
      this.seen = key;
      this.draw_all(began + kLate_ms);
      this.adapt(performance.now() - began);
    } else if (!moving) {
      this.state.tiles.rest();
      this.refine(began + refine_ms);
    }
    this.arrived = false;
    this.stats.pending = this.stale.size > 0;
    this.stats.last_ms = performance.now() - began;
    this.stats.worst_ms = Math.max(this.stats.worst_ms, this.stats.last_ms);
    this.stats.frames += 1;
    return this.stats.pending && !moving;
  }

  // A slow machine, or a view full of slices, is drawn in wider bars.
  private adapt(took_ms: number): void {
    if (took_ms > kLate_ms) this.coarseness = Math.min(kGrains.length - 1, this.coarseness + 1);
    else if (took_ms < kFast_ms) this.coarseness = Math.max(0, this.coarseness - 1);
  }

  // The next frame is drawn from the beginning, and asks for what is not there.
  forget(): void {
    this.seen = "";
  }

  // Slices of a track have come.
  came(track: number): void {
    this.stale.set(track, 0);
    this.arrived = true;
    this.stats.pending = true;
  }

  private frame_of(context: CanvasRenderingContext2D, grain: number): Frame {
    const { view } = this.state;
    this.painter.begin(view.width, grain);
    return {
      context,
      width: view.width,
      from: view.from,
      scale: 1 / view.ns_per_px,
      paints: this.state.paints.all,
      lit: this.state.lit,
      grain,
      late: false,
    };
  }

  private hurry(frame: Frame): void {
    frame.late = true;
    frame.grain = kGrains.at(-1)!;
    this.painter.begin(frame.width, frame.grain);
  }

  private draw_all(late: number): void {
    const { view, tiles, lanes } = this.state;
    const context = prepare(this.canvas, view.width, this.height);
    context.fillStyle = theme().background;
    context.fillRect(0, 0, view.width, this.height);
    const frame = this.frame_of(context, kGrains[this.coarseness]!);
    this.stats.covered.clear();
    this.stale.clear();
    tiles.begin(this.state.moving);
    this.grid(context, 0, this.height);
    const boxes = this.visible();
    for (const pinned of [false, true]) {
      context.save();
      context.beginPath();
      context.rect(0, pinned ? 0 : lanes.pinned_height, view.width, this.height);
      context.clip();
      for (const { box, y } of boxes) {
        if (box.pinned !== pinned) continue;
        this.box(frame, box, y, 0, box.rows, late);
        if (box.track) this.stale.set(box.track.id, 0);
      }
      context.restore();
    }
    if (lanes.pinned_height) {
      context.fillStyle = theme().accent;
      context.fillRect(0, lanes.pinned_height - 2, view.width, 1);
    }
    tiles.end();
  }

  private refine(until: number): void {
    if (!this.stale.size) return;
    const frame = this.frame_of(prepare(this.canvas, this.state.view.width, this.height), 1);
    const boxes = this.visible();
    for (const [track, first] of [...this.stale]) {
      for (let row = first; this.stale.has(track); row += kBand) {
        this.stale.delete(track);
        for (const { box, y } of boxes) {
          if (box.track?.id !== track) continue; // a pinned track has two
          const end = box.collapsed ? box.rows : Math.min(box.rows, row + kBand);
          this.band_anew(frame, box, y, row, end);
          if (end < box.rows) this.stale.set(track, end);
        }
        if (performance.now() > until) return;
      }
    }
  }

  // Some rows of a box on a canvas that shows the rest already. Its flags reach a pixel over its edge.
  private band_anew(frame: Frame, box: LaneBox, y: number, first: number, end: number): void {
    const { context, width } = frame;
    const pinned = this.state.lanes.pinned_height;
    const top = Math.max(box.pinned ? 0 : pinned, first ? y + first * box.row : y - 1);
    const bottom = Math.min(end < box.rows ? y + end * box.row : y + box.height, box.pinned ? pinned - 2 : this.height);
    if (bottom <= top) return;
    context.save();
    context.beginPath();
    context.rect(0, top, width, bottom - top);
    context.clip();
    context.fillStyle = theme().background;
    context.fillRect(0, y, width, box.height);
    this.grid(context, y, box.height);
    this.box(frame, box, y, first, end, Infinity);
    context.restore();
  }

  private grid(context: CanvasRenderingContext2D, y: number, height: number): void {
    const { view } = this.state;
    const step = nice_step(view.ns_per_px * 110);
    context.fillStyle = theme().lane;
    const origin = origin_of(this.state.alignment);
    for (let time = origin + Math.ceil((view.from - origin) / step) * step; time < view.to; time += step)
      context.fillRect(Math.round(view.x(time)), y, 1, height);
  }

  // Rows [first, end) of it; from the moment `late` on as quickly as can be.
  private box(frame: Frame, box: LaneBox, y: number, first: number, end: number, late: number): void {
    const { context, width } = frame;
    const colours = theme();
    if (box.kind === "group") {
      context.fillStyle = colours.group;
      context.fillRect(0, y, width, box.height);
      return;
    }
    const { view, tiles } = this.state;
    const counter = this.counter_of(box);
    if (counter) return draw_counter(context, counter, view, y, box.height - kPad);
    const pieces = tiles.pieces(box.track!.id, view.from, view.to, view.ns_per_px);
    if (!pieces.length) {
      context.fillStyle = colours.lane;
      context.fillRect(0, y, width, box.height - 4);
    }
    if (this.state.show_marks) this.marks.gaps(context, box, y);
    for (let depth = first; depth < end; ++depth) {
      const top = y + depth * box.row;
      if (depth && (top > this.height || top + box.row < 0)) continue;
      if (!frame.late && performance.now() > late) this.hurry(frame);
      const tall = box.row > 4 ? box.row - 1 : box.row;
      const covered = this.painter.row(frame, pieces, depth, top, tall, !box.collapsed && !frame.late);
      this.stats.covered.set((box.row_keys[depth] ??= `${box.track!.id}/${depth}`), covered / width);
    }
    context.fillStyle = colours.line;
    context.globalAlpha = 0.6;
    context.fillRect(0, y + box.height - 2, width, 1);
    context.globalAlpha = 1;
    if (this.state.show_marks) {
      this.marks.path(context, box, y);
      this.marks.flags(context, box, y);
    }
  }

  // The middle of a row of a track on the stage; null when the track is not laid out (its group is closed).
  row_at(track: number, depth: number): { y: number; height: number } | null {
    const { lanes, scroll } = this.state;
    const box = lanes.box(track);
    if (!box) return null;
    const y = box.pinned ? box.y : lanes.pinned_height + box.y - scroll;
    return { y: y + Math.min(depth, box.rows - 1) * box.row, height: box.row > 4 ? box.row - 1 : box.row };
  }

  // What is at a place of the stage.
  hit(x: number, y: number): Hovered | null {
    const found = this.box_at(y);
    if (!found || found.box.kind !== "track") return null;
    const { box } = found;
    const depth = Math.floor((y - found.y) / box.row);
    if (depth < 0 || depth >= box.rows) return null;
    const { view, tiles } = this.state;
    const time = view.time(x);
    const reach = view.ns_per_px * 1.5;
    const piece = tiles.pieces(box.track!.id, time, time, view.ns_per_px)[0];
    const lane = piece?.tile.lanes[depth];
    if (!piece || !lane) return null;
    const { tile } = piece;
    const i = first_after(lane.end, time - reach);
    if (i < lane.start.length && lane.start[i]! <= time + reach) {
      return {
        track: box.track!.id,
        depth,
        start: lane.start[i]!,
        end: lane.end[i]!,
        id: lane.id[i]!,
        name: tile.names[lane.name[i]!]!,
        count: 1,
        share: 1,
      };
    }
    const b = first_after(lane.bucket_at, time - tile.bucket_ns - reach);
    if (b >= lane.bucket_at.length || lane.bucket_at[b]! > time + reach) return null;
    const start = lane.bucket_at[b]!;
    return {
      track: box.track!.id,
      depth,
      start,
      end: start + tile.bucket_ns,
      id: lane.bucket_id[b]!,
      name: tile.names[lane.bucket_name[b]!]!,
      count: lane.bucket_count[b]!,
      share: lane.bucket_share[b]!,
    };
  }

  private counter_of(box: LaneBox): Counter | null {
    return box.track && box.track.id < 0 ? (this.state.counters[-1 - box.track.id] ?? null) : null;
  }
  counter_at(y: number): Counter | null {
    const found = this.box_at(y);
    return found ? this.counter_of(found.box) : null;
  }

  box_at(y: number): Seen | null {
    const pinned = this.state.lanes.pinned_height;
    return this.visible().find(({ box, y: top }) => y >= top && y < top + box.height && (box.pinned || y >= pinned)) ?? null;
  }

  mark_at(x: number, y: number): State["marks"][number] | null {
    const found = this.box_at(y + 4);
    if (!this.state.show_marks || !found?.box.track || y - found.y > 8) return null;
    return this.marks.at(found.box.track.id, x);
  }
}
