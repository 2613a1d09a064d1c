// Two traces on one time axis: which they are, and how far each is moved so that an iteration of the one starts where one of the other does. The axis
// begins where the earlier of them does, so neither has a time below 0; the ruler tells the times of A. In the URL: "with=1&at=0.3", the other trace and
// the indexes of the two iterations.
import type { DataSource } from "../api/source";
import type { Iteration, TraceInfo, Traces } from "../api/types";

export interface Part {
  letter: "A" | "B";
  t: number;
  trace: TraceInfo;
  iteration: Iteration | null; // null: the start of its window
  shift_ns: number; // its times and this are times of the axis
  iterations: Iteration[]; // all of them, in times of the axis
}

export type Alignment = readonly [Part, Part];

// The traces that can stand below this one: those that are there in the same form.
export function alignable(source: DataSource, all: Traces, t: number): TraceInfo[] {
  const there = (index: number): boolean => source.has("tracks", { t: index });
  return there(t) ? all.traces.filter(({ index }) => index !== t && there(index) && source.windows(index) === source.windows(t)) : [];
}

// null: the URL asks for none, or for one that is not there.
export function alignment_of(source: DataSource, all: Traces, t: number, parameters: URLSearchParams): Alignment | null {
  const other = alignable(source, all, t).find(({ index }) => String(index) === parameters.get("with"));
  const trace = all.traces[t];
  if (!other || !trace) return null;
  const [a, b] = chosen(trace.iterations.list, other.iterations.list, parameters.get("at"));
  const [start_a, start_b] = [a?.start_ns ?? 0, b?.start_ns ?? 0];
  const part = (letter: Part["letter"], trace: TraceInfo, iteration: Iteration | null, shift_ns: number): Part => ({
    letter,
    t: trace.index,
    trace,
    iteration,
    shift_ns,
    iterations: trace.iterations.list.map((each) => ({ ...each, start_ns: each.start_ns + shift_ns, end_ns: each.end_ns + shift_ns })),
  });
  return [part("A", trace, a, Math.max(0, start_b - start_a)), part("B", other, b, Math.max(0, start_a - start_b))];
}

// The first of both unless others are named; where one trace has none, the starts of the windows.
function chosen(a: Iteration[], b: Iteration[], named: string | null): [Iteration | null, Iteration | null] {
  if (!a.length || !b.length) return [null, null];
  const [i, j] = (named ?? "").split(".");
  const find = (list: Iteration[], index: string | undefined): Iteration => list.find((each) => String(each.index) === index) ?? list[0]!;
  return [find(a, i), find(b, j)];
}

// Where on the axis the chosen trace's time 0 is.
export const origin_of = (alignment: Alignment | null): number => alignment?.[0].shift_ns ?? 0;

// Both as one trace, for whoever knows of one.
export function aligned_trace(alignment: Alignment): TraceInfo {
  const [a, b] = alignment;
  return {
    index: a.t,
    name: `${a.trace.name} and ${b.trace.name}`,
    window_ns: Math.max(...alignment.map(({ trace, shift_ns }) => trace.window_ns + shift_ns)),
    events: a.trace.events + b.trace.events,
    iterations: { ...a.trace.iterations, list: a.iterations },
  };
}
