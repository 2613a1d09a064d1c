// What the timeline shows besides the slices themselves; the one value that its parts share.
import type { DataSource } from "../api/source";
import type { Counter, Mark, SliceDetails, TraceInfo } from "../api/types";
import { Paints } from "../ui/palette";
import type { Alignment } from "./alignment";
import type { Claim } from "./claim";
import type { HitList } from "./hit_list";
import type { JobClock } from "./job_clock";
import type { Lanes } from "./lanes";
import type { Meeting } from "./meeting";
import type { Tiles } from "./tiles";
import type { View } from "./view";

export interface Area {
  from: number;
  to: number;
  tracks: number[]; // empty: all
}

export interface Hovered {
  track: number;
  depth: number;
  start: number;
  end: number;
  id: number;
  name: string;
  count: number; // slices that this stands for
  share: number; // of [start, end) that is busy
}

export interface Note {
  from: number;
  to: number;
}

// The names that a search means: a list, or those that hold the key.
export interface Lit {
  key: string;
  names: Set<string> | null;
}

export interface State {
  source: DataSource;
  t: number;
  scope: Record<string, string>; // the part of the trace that questions are about
  trace: TraceInfo;
  alignment: Alignment | null; // several traces on one axis: `source` and `trace` are then all of them
  job: (() => Promise<JobClock | null>) | null; // the clock of the job that the trace is a rank of; null: of none
  view: View;
  lanes: Lanes;
  tiles: Tiles;
  paints: Paints;
  marks: Mark[];
  counters: Counter[]; // by track: counters.ts
  notes: Note[]; // marks of the user
  selection: SliceDetails | null;
  meeting: Meeting | null; // the selected collective with its other ranks, where it is known
  area: Area | null;
  claim: Claim | null; // the finding that is shown
  hovered: Hovered | null;
  cursor: number | null; // where the mouse is on the stage, px
  query: string; // as typed
  lit: Lit | null; // null: all names are drawn alike
  hits: HitList | null;
  hit: number; // which of the hits, -1: none chosen
  selecting: boolean; // dragging selects an area; with Shift it moves. False: the other way round
  moving: boolean; // the view changed a moment ago
  scroll: number;
  show_marks: boolean;
}

export const kMarkColours: Record<Mark["kind"], string> = {
  break: "#cc79a7",
  recompile: "#8a5cd6",
  sync: "#d55e00",
  gap: "#e0a100",
  iteration: "#0072b2",
  critical: "#e11d48",
};
export const kMarkNames: Record<Mark["kind"], string> = {
  break: "graph break",
  recompile: "recompile",
  sync: "sync point",
  gap: "idle gap",
  iteration: "iteration",
  critical: "critical path",
};
// In the toolbar, where some of them stand beside each other.
export const kMarkWords: Record<Mark["kind"], string> = {
  break: "breaks",
  recompile: "recompiles",
  sync: "syncs",
  gap: "gaps",
  iteration: "iterations",
  critical: "critical path",
};
