// Several traces on one time axis: which they are, and how far each is moved. Two are laid over each other so that an iteration of the one starts where
// one of the other does ("with=1&at=0.3", the other trace and the indexes of the two iterations); ranks of a job stand on its common clock ("ranks=0.3.5",
// see job_clock.ts). The chosen trace is the first, and the ruler tells its times. The axis begins where the earliest of them does, so none has a time
// below 0.
import type { DataSource } from "../api/source";
import type { Iteration, TraceInfo, Traces } from "../api/types";
import { known_clock, shift_of, type JobClock } from "./job_clock";

export interface Part {
  label: string; // "A", "B"; of a rank "rank 3"
  rank: number | null; // null: not on the clock of a job
  t: number;
  trace: TraceInfo;
  iteration: Iteration | null; // that is laid over the other's; null: the start of its window, or the common clock
  shift_ns: number; // its times and this are times of the axis
  iterations: Iteration[]; // all of them, in times of the axis
  first_id: number; // what is added to its ids of slices and tracks
}

export type Alignment = readonly Part[];

export const kMostStacked = 32;
const kIds = 2 ** 32; // ids of tiles have 32 bits

// How many ids each part has: ids of the parts do not meet.
export const ids_each = (parts: number): number => Math.floor(kIds / parts);

export const part_of = (alignment: Alignment, id: number): Part => alignment[Math.min(alignment.length - 1, Math.floor(id / ids_each(alignment.length)))]!;

// The traces that can stand below this one: those that are there in the same form.
export function alignable(source: DataSource, all: Traces, t: number): TraceInfo[] {
  const there = (index: number): boolean => source.has("tracks", { t: index });
  return there(t) ? all.traces.filter(({ index }) => index !== t && there(index) && source.windows(index) === source.windows(t)) : [];
}

// null: the URL asks for none, or for one that is not there.
export function alignment_of(source: DataSource, all: Traces, t: number, parameters: URLSearchParams): Alignment | null {
  const clock = parameters.has("ranks") ? known_clock(source) : null;
  if (clock) return stacked(source, all, t, clock, (parameters.get("ranks") ?? "").split("."));
  const other = alignable(source, all, t).find(({ index }) => String(index) === parameters.get("with"));
  const trace = all.traces[t];
  if (!other || !trace) return null;
  const [a, b] = chosen(trace.iterations.list, other.iterations.list, parameters.get("at"));
  const [start_a, start_b] = [a?.start_ns ?? 0, b?.start_ns ?? 0];
  return parts_of([
    { label: "A", rank: null, trace, iteration: a, shift_ns: -start_a },
    { label: "B", rank: null, trace: other, iteration: b, shift_ns: -start_b },
  ]);
}

// The chosen trace first, then the ranks as they are asked for. null: fewer than two of them are on the clock.
function stacked(source: DataSource, all: Traces, t: number, clock: JobClock, asked: string[]): Alignment | null {
  const there = new Set([t, ...alignable(source, all, t).map(({ index }) => index)]);
  const first = clock.ranks.find((each) => each.t === t);
  const wanted = asked.map((rank) => clock.ranks.find((each) => String(each.rank) === rank)).filter((each) => each !== undefined);
  const list: Placed[] = [];
  for (const each of new Set([...(first ? [first] : []), ...wanted])) {
    const trace = all.traces[each.t]!;
    const shift_ns = there.has(each.t) ? shift_of(each, trace) : null;
    if (shift_ns !== null) list.push({ label: `rank ${each.rank}`, rank: each.rank, trace, iteration: null, shift_ns });
  }
  return list.length < 2 ? null : parts_of(list.slice(0, kMostStacked));
}

type Placed = Pick<Part, "label" | "rank" | "trace" | "iteration" | "shift_ns">;

function parts_of(list: Placed[]): Alignment {
  const earliest = Math.min(...list.map(({ shift_ns }) => shift_ns));
  return list.map((each, i) => {
    const shift_ns = each.shift_ns - earliest;
    const moved = (one: Iteration): Iteration => ({ ...one, start_ns: one.start_ns + shift_ns, end_ns: one.end_ns + shift_ns });
    return { ...each, shift_ns, t: each.trace.index, iterations: each.trace.iterations.list.map(moved), first_id: i * ids_each(list.length) };
  });
}

// The first of both unless others are named; where one trace has none, the starts of the windows.
function chosen(a: Iteration[], b: Iteration[], named: string | null): [Iteration | null, Iteration | null] {
  if (!a.length || !b.length) return [null, null];
  const [i, j] = (named ?? "").split(".");
  const find = (list: Iteration[], index: string | undefined): Iteration => list.find((each) => String(each.index) === index) ?? list[0]!;
  return [find(a, i), find(b, j)];
}

// Whether they are ranks on the clock of their job.
export const is_stack = (alignment: Alignment | null): boolean => alignment !== null && alignment[0]!.rank !== null;

// Where on the axis the chosen trace's time 0 is.
export const origin_of = (alignment: Alignment | null): number => alignment?.[0]!.shift_ns ?? 0;

// All as one trace, for whoever knows of one.
export function aligned_trace(alignment: Alignment): TraceInfo {
  const [a, ...others] = alignment as [Part, ...Part[]];
  return {
    index: a.t,
    name: others.length === 1 ? `${a.trace.name} and ${others[0]!.trace.name}` : `${a.trace.name} and ${others.length} others`,
    window_ns: Math.max(...alignment.map(({ trace, shift_ns }) => trace.window_ns + shift_ns)),
    events: alignment.reduce((sum, { trace }) => sum + trace.events, 0),
    iterations: { ...a.trace.iterations, list: a.iterations },
  };
}
