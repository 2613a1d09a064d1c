// What lies over the lanes and follows the mouse and the selection: the cursor, the area, marks of the user, the selected slice with its
// arrows, and every slice of the name under the mouse. Cheap enough to be drawn at every move of the mouse.
import type { Flow } from "../api/types";
import { el } from "../ui/dom";
import { first_after } from "./painter";
import type { Claim, ClaimPiece } from "./claim";
import { kPad } from "./lanes";
import type { Meeting } from "./meeting";
import type { Stage } from "./stage";
import type { State } from "./state";
import { prepare, theme } from "./theme";
import type { Lane, Piece } from "./tile";
import type { View } from "./view";

const kMeetingColour = "#c0397b";
const kWaitVeil = 0.55; // over the part of a collective that was waiting
const kVeil = 0.72; // over what a finding does not claim
const kClaimBar = 3; // px, under what it does
const kClaimColour = "#d55e00";
const kSameName = 0.38; // how much a slice of the hovered name is darkened, or lightened where the page is dark

export class Overlay {
  readonly canvas = el("canvas", { class: "tl-canvas" });

  constructor(
    private readonly state: State,
    private readonly stage: Stage,
  ) {}

  // Whether a move of the view moves anything here: the cursor stays under the mouse.
  get follows_view(): boolean {
    return this.drawn || this.shows_times;
  }
  private drawn = false; // such a thing is on the canvas
  private get shows_times(): boolean {
    const { area, notes, hovered, selection, claim } = this.state;
    return Boolean(area ?? hovered ?? selection ?? claim) || notes.length > 0;
  }

  draw(): void {
    const { view, area, notes, hovered, selection, cursor } = this.state;
    this.drawn = this.shows_times;
    const context = prepare(this.canvas, view.width, this.stage.height);
    context.clearRect(0, 0, view.width, this.stage.height);
    const colours = theme();
    if (this.state.claim) this.claim(context, this.state.claim);
    for (const note of notes) this.band(context, note.from, note.to, "#d8347b", 0.08);
    if (area) this.area(context);
    if (cursor !== null) {
      context.fillStyle = colours.muted;
      context.globalAlpha = 0.5;
      context.fillRect(Math.round(cursor), 0, 1, this.stage.height);
      context.globalAlpha = 1;
    }
    if (hovered) {
      this.same_name(context, hovered.name);
      this.outline(context, hovered.track, hovered.depth, hovered.start, hovered.end, colours.text, 1);
    }
    if (this.state.meeting) this.meeting(context, this.state.meeting);
    if (selection) {
      for (const flow of selection.flows) this.arrow(context, flow);
      this.outline(context, selection.track, selection.depth, selection.start_ns, selection.start_ns + selection.dur_ns, colours.accent, 2);
    }
  }

  private band(context: CanvasRenderingContext2D, from: number, to: number, colour: string, alpha: number): void {
    const { view } = this.state;
    const a = view.x(from);
    const width = Math.max(1, view.x(to) - a);
    context.fillStyle = colour;
    context.globalAlpha = alpha;
    context.fillRect(a, 0, width, this.stage.height);
    context.globalAlpha = 0.8;
    context.fillRect(a, 0, 1, this.stage.height);
    context.fillRect(a + width, 0, 1, this.stage.height);
    context.globalAlpha = 1;
  }

  // What a finding claims is lit on the streams of its device: work on its own stream, idle time on all; the rest of them is veiled.
  private claim(context: CanvasRenderingContext2D, claim: Claim): void {
    const { view } = this.state;
    const colours = theme();
    for (const { box, y } of this.stage.visible()) {
      const track = box.track;
      if (box.kind !== "track" || !track || track.kind !== "stream" || track.device !== claim.best.device) continue;
      const top = box.pinned ? y : Math.max(y, this.state.lanes.pinned_height);
      const height = y + box.height - kPad - top;
      if (height <= 0) continue;
      const lit = merged(claim.pieces, view, (piece) => piece.stream === null || piece.stream === track.stream);
      let x = 0;
      context.fillStyle = colours.background;
      context.globalAlpha = kVeil;
      for (const [a, b] of lit) {
        if (a > x) context.fillRect(x, top, a - x, height);
        x = b;
      }
      if (x < view.width) context.fillRect(x, top, view.width - x, height);
      context.globalAlpha = 1;
      context.fillStyle = kClaimColour;
      for (const [a, b] of lit) context.fillRect(a, top + height - kClaimBar, Math.max(1, b - a), kClaimBar);
    }
  }

  private area(context: CanvasRenderingContext2D): void {
    const { view, area } = this.state;
    const colours = theme();
    const a = view.x(area!.from);
    const b = Math.max(a + 1, view.x(area!.to));
    context.fillStyle = colours.accent;
    for (const { box, y } of this.stage.visible()) {
      if (box.kind !== "track" || (area!.tracks.length && !area!.tracks.includes(box.track!.id))) continue;
      context.globalAlpha = 0.16;
      context.fillRect(a, y, b - a, box.height);
    }
    context.globalAlpha = 0.9;
    context.fillRect(a, 0, 1, this.stage.height);
    context.fillRect(b, 0, 1, this.stage.height);
    context.globalAlpha = 1;
  }

  // All slices in sight that are called like the one under the mouse.
  private same_name(context: CanvasRenderingContext2D, name: string): void {
    const { view, tiles } = this.state;
    const top = this.state.lanes.pinned_height;
    context.fillStyle = theme().text;
    context.globalAlpha = kSameName;
    for (const { box, y } of this.stage.visible()) {
      if (box.kind !== "track") continue;
      const tall = box.row > 4 ? box.row - 1 : box.row;
      for (const piece of tiles.pieces(box.track!.id, view.from, view.to, view.ns_per_px)) {
        const at = tiles.name_at(piece.tile, name);
        if (at < 0) continue;
        for (let depth = 0; depth < box.rows; ++depth) {
          const row = y + depth * box.row;
          const lane = piece.tile.lanes[depth];
          if (lane && row < this.stage.height && (box.pinned || row >= top)) this.same_in(context, lane, piece, at, row, tall);
        }
      }
    }
    context.globalAlpha = 1;
  }

  private same_in(context: CanvasRenderingContext2D, lane: Lane, piece: Piece, name: number, y: number, tall: number): void {
    const { view } = this.state;
    const from = Math.max(piece.from, view.from);
    const to = Math.min(piece.to, view.to);
    for (let i = first_after(lane.end, from); i < lane.start.length && lane.start[i]! < to; ++i) {
      if (lane.name[i] !== name) continue;
      const a = Math.max(0, view.x(lane.start[i]!));
      context.fillRect(a, y, Math.max(1, Math.min(view.width, view.x(lane.end[i]!)) - a), tall);
    }
    const wide = Math.max(1, piece.tile.bucket_ns / view.ns_per_px);
    for (let i = first_after(lane.bucket_at, from - piece.tile.bucket_ns); i < lane.bucket_at.length && lane.bucket_at[i]! < to; ++i) {
      if (lane.bucket_name[i] !== name) continue;
      const high = Math.max(1, Math.round(lane.bucket_share[i]! * tall));
      context.fillRect(view.x(lane.bucket_at[i]!), y + tall - high, wide, high);
    }
  }

  private outline(
    context: CanvasRenderingContext2D,
    track: number,
    depth: number,
    start: number,
    end: number,
    colour: string,
    width: number,
  ): void {
    const row = this.stage.row_at(track, depth);
    if (!row) return;
    const { view } = this.state;
    const a = Math.max(-6, view.x(start));
    const b = Math.min(view.width + 6, Math.max(view.x(end), a + 2));
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(
      Math.round(a) + 0.5 - width / 2,
      row.y + 0.5 - width / 2,
      Math.max(2, Math.round(b - a) + width - 2),
      row.height + width - 1,
    );
  }

  // The same collective on the other ranks: outlined, what of each was waiting veiled, and joined by a line through their starts.
  private meeting(context: CanvasRenderingContext2D, { arrivals }: Meeting): void {
    const { view } = this.state;
    const starts: { x: number; y: number }[] = [];
    for (const { slice, wait_ns } of arrivals) {
      const row = slice && this.stage.row_at(slice.track, slice.depth);
      if (!slice || !row) continue;
      const [a, b] = [view.x(slice.start_ns), view.x(slice.start_ns + wait_ns)];
      context.fillStyle = theme().background;
      context.globalAlpha = kWaitVeil;
      context.fillRect(Math.max(0, a), row.y, Math.min(view.width, b) - Math.max(0, a), row.height);
      context.globalAlpha = 1;
      this.outline(context, slice.track, slice.depth, slice.start_ns, slice.start_ns + slice.dur_ns, kMeetingColour, 2);
      starts.push({ x: a, y: row.y + row.height / 2 });
    }
    starts.sort((p, q) => p.y - q.y);
    context.strokeStyle = kMeetingColour;
    context.lineWidth = 1.4;
    context.beginPath();
    starts.forEach(({ x, y }, i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
  }

  private arrow(context: CanvasRenderingContext2D, flow: Flow): void {
    const { view, selection } = this.state;
    const here = this.stage.row_at(selection!.track, selection!.depth);
    const there = this.stage.row_at(flow.track, flow.depth ?? 0);
    if (!here || !there) return;
    const mine = { x: view.x(selection!.start_ns), y: here.y + here.height / 2 };
    const other = { x: view.x(flow.start_ns), y: there.y + there.height / 2 };
    const [from, to] = flow.direction === "out" ? [mine, other] : [other, mine];
    const bend = Math.max(24, Math.min(120, Math.abs(to.x - from.x) / 2));
    context.strokeStyle = flow.kind === "launch" ? "#d55e00" : flow.kind === "fwdbwd" ? "#8a5cd6" : "#009e73";
    context.fillStyle = context.strokeStyle;
    context.lineWidth = 1.6;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
    context.stroke();
    context.beginPath();
    context.moveTo(to.x, to.y);
    context.lineTo(to.x - 7, to.y - 4);
    context.lineTo(to.x - 7, to.y + 4);
    context.fill();
  }
}

// The pieces in sight, as px; those that touch are one.
function merged(pieces: ClaimPiece[], view: View, wanted: (piece: ClaimPiece) => boolean): [number, number][] {
  const parts: [number, number][] = [];
  for (const piece of pieces) {
    if (piece.to <= view.from || piece.from >= view.to || !wanted(piece)) continue;
    const [a, b] = [Math.max(0, Math.floor(view.x(piece.from))), Math.min(view.width, Math.max(view.x(piece.to), view.x(piece.from) + 1))];
    const last = parts.at(-1);
    if (last && a <= last[1]) last[1] = Math.max(last[1], b);
    else parts.push([a, b]);
  }
  return parts;
}
