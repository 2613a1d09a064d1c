// The common clock of a job's ranks, as `ranks` tells it: where on it the window of each trace begins. Asked for once, when a timeline of several ranks or
// the collective of a slice needs it.
import type { DataSource } from "../api/source";
import type { Report, Traces } from "../api/types";
import { rows_of, table_of } from "../ui/rows";

export interface RankClock {
  rank: number;
  t: number; // its trace
  shift_ns: number | null; // from the clock's 0 to the start of its window; null: it meets no other rank, so nobody knows
  error_ns: number | null; // how far off that may be
  first_ns: number; // where its first step begins, in its own window
}

export interface JobClock {
  ranks: RankClock[]; // in order of rank
}

const clocks = new WeakMap<DataSource, Promise<JobClock | null>>();
const known = new WeakMap<DataSource, JobClock>();

// What load_clock() has found; null: nothing, or not yet.
export const known_clock = (source: DataSource): JobClock | null => known.get(source) ?? null;

// null: the traces are not ranks of one job.
export function load_clock(source: DataSource, all: Traces): Promise<JobClock | null> {
  let clock = clocks.get(source);
  if (!clock) {
    clock = source
      .analysis("ranks")
      .then((report) => clock_of(report, all))
      .catch(() => (clocks.delete(source), null)); // asked again another time
    clocks.set(source, clock);
    void clock.then((made) => made && known.set(source, made));
  }
  return clock;
}

// Whether there can be one.
export const may_have_clock = (source: DataSource, all: Traces): boolean => all.traces.length > 1 && all.analyses.some(({ name }) => name === "ranks") && source.has("ranks");

export function clock_of(report: Report, all: Traces): JobClock | null {
  const [ranks, steps] = [table_of(report, "ranks"), table_of(report, "steps")];
  if (!ranks || !steps) return null;
  const starts = new Map<number, Map<number, number>>(); // rank -> step -> start
  for (const row of rows_of(steps)) {
    const [rank, step, start] = [steps.number(row, "rank"), steps.number(row, "step"), steps.number(row, "start_ns")];
    if (rank === null || step === null || start === null) continue;
    if (!starts.has(rank)) starts.set(rank, new Map());
    starts.get(rank)!.set(step, start);
  }
  const list: RankClock[] = [];
  for (const row of rows_of(ranks)) {
    const [rank, t] = [ranks.number(row, "rank"), ranks.number(row, "trace")];
    const trace = t === null ? undefined : all.traces[t];
    if (rank === null || !trace) continue;
    const iterations = trace.iterations.list;
    const own = starts.get(rank);
    const step = iterations.find(({ index }) => own?.has(index));
    const aligned = ranks.number(row, "offset_ns") !== null && step !== undefined;
    list.push({
      rank,
      t: trace.index,
      shift_ns: aligned ? own!.get(step.index)! - step.start_ns : null,
      error_ns: ranks.number(row, "offset_error_ns"),
      first_ns: iterations[0]?.start_ns ?? 0,
    });
  }
  return list.length ? { ranks: list } : null;
}
