// Graph breaks, recompiles, sync points and gaps on the lanes of their tracks: hatched below the slices, flagged above them.
import type { LaneBox } from "./lanes";
import { flag } from "./ruler";
import { kMarkColours, type State } from "./state";

const kMarkReach = 6; // px around a mark that count as it
const kLeastGap = 6; // px
const kFlagApart = 5; // px
const kPathHeight = 2; // px
const kNoMarks: State["marks"] = [];

export class LaneMarks {
  private by_track: Map<number, State["marks"]> | null = null;

  constructor(private readonly state: State) {}

  private marks_of(track: number): State["marks"] {
    if (!this.by_track) {
      this.by_track = new Map();
      for (const mark of this.state.marks) {
        if (mark.track === null || mark.kind === "iteration") continue;
        const list = this.by_track.get(mark.track);
        if (list) list.push(mark);
        else this.by_track.set(mark.track, [mark]);
      }
    }
    return this.by_track.get(track) ?? kNoMarks;
  }

  // Below the slices: gaps long enough to be seen.
  gaps(context: CanvasRenderingContext2D, box: LaneBox, y: number): void {
    const { view } = this.state;
    const least_ns = kLeastGap * view.ns_per_px;
    for (const mark of this.marks_of(box.track!.id)) {
      if (mark.kind !== "gap" || mark.dur_ns < least_ns || mark.start_ns > view.to || mark.start_ns + mark.dur_ns < view.from) continue;
      const a = Math.max(0, view.x(mark.start_ns));
      const b = Math.min(view.width, view.x(mark.start_ns + mark.dur_ns));
      if (b - a >= kLeastGap) hatch(context, a, y, b - a, box.height - 4, kMarkColours.gap);
    }
  }

  // The critical path: a line along the lane for as long as it runs there.
  path(context: CanvasRenderingContext2D, box: LaneBox, y: number): void {
    const { view } = this.state;
    context.fillStyle = kMarkColours.critical;
    for (const mark of this.marks_of(box.track!.id)) {
      if (mark.kind !== "critical" || mark.start_ns > view.to || mark.start_ns + mark.dur_ns < view.from) continue;
      const a = Math.max(0, view.x(mark.start_ns));
      const b = Math.min(view.width, view.x(mark.start_ns + mark.dur_ns));
      context.fillRect(a, y - 3, Math.max(1, b - a), kPathHeight);
    }
  }

  // Above them: a flag for each mark; those closer together than a flag is wide share one.
  flags(context: CanvasRenderingContext2D, box: LaneBox, y: number): void {
    const { view } = this.state;
    const marks = this.marks_of(box.track!.id);
    if (!marks.length) return;
    const reach_ns = 4 * view.ns_per_px; // half a flag
    const last = new Map<string, number>();
    for (const mark of marks) {
      if (mark.kind === "critical") continue; // a line: see path()
      if (mark.start_ns > view.to + reach_ns || mark.start_ns + mark.dur_ns < view.from - reach_ns) continue;
      const a = view.x(mark.start_ns);
      const b = view.x(mark.start_ns + mark.dur_ns);
      if (mark.kind === "gap" && b - a < kLeastGap) continue;
      const at = flag_place(mark, a, b, view.width);
      if (Math.abs(at - (last.get(mark.kind) ?? -99)) < kFlagApart) continue;
      last.set(mark.kind, at);
      flag(context, at, y - 1, kMarkColours[mark.kind]);
    }
  }

  // The mark of a track whose flag is near x.
  at(track: number, x: number): State["marks"][number] | null {
    const { view } = this.state;
    const near = (mark: State["marks"][number]): boolean => {
      const a = view.x(mark.start_ns);
      const b = view.x(mark.start_ns + mark.dur_ns);
      return mark.kind !== "critical" && (mark.kind !== "gap" || b - a >= kLeastGap) && Math.abs(flag_place(mark, a, b, view.width) - x) < kMarkReach;
    };
    return this.marks_of(track).find(near) ?? null;
  }
}

// A gap's flag stands in its middle, the others' at the start.
function flag_place(mark: State["marks"][number], a: number, b: number, width: number): number {
  return mark.kind === "gap" ? (Math.max(0, a) + Math.min(width, b)) / 2 : a;
}

function hatch(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, colour: string): void {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.globalAlpha = 0.1;
  context.fillStyle = colour;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 0.4;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let at = x - height; at < x + width; at += 9) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}
