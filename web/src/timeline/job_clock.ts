// The common clock of a job's ranks, as `ranks` tells it: where on it the window of each trace begins. Asked for once, when a timeline of several ranks or
// the collective of a slice needs it.
import { open_trace } from "../api/open_trace";
import type { DataSource } from "../api/source";
import type { Report, TraceInfo, Traces } from "../api/types";
import { rows_of, table_of } from "../ui/rows";

export interface RankClock {
  rank: number;
  t: number; // its trace
  aligned: boolean; // it meets other ranks: else nobody knows what its clock says of theirs
  error_ns: number | null; // how far off it may be
  starts: Map<number, number>; // when its steps begin, by the common clock
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

// Which trace is whose, by its name in the report.
export function traces_of_ranks(report: Report): Map<number, number> {
  const names = new Map(report.traces.map(({ name }, t) => [name, t]));
  const ranks = table_of(report, "ranks");
  const found = new Map<number, number>();
  for (const row of rows_of(ranks)) {
    const [rank, t] = [ranks!.number(row, "rank"), names.get(ranks!.text(row, "file"))];
    if (rank !== null && t !== undefined) found.set(rank, t);
  }
  return found;
}

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
  const traces = traces_of_ranks(report);
  for (const row of rows_of(ranks)) {
    const rank = ranks.number(row, "rank");
    const t = rank === null ? undefined : traces.get(rank);
    if (rank === null || t === undefined || !all.traces[t]) continue;
    const own = starts.get(rank) ?? new Map<number, number>();
    list.push({ rank, t, aligned: ranks.number(row, "offset_ns") !== null && own.size > 0, error_ns: ranks.number(row, "offset_error_ns"), starts: own });
  }
  return list.length ? { ranks: list } : null;
}

// From the clock's 0 to the start of the trace's window; null: not known. The trace must be open.
export function shift_of({ aligned, starts }: RankClock, trace: TraceInfo): number | null {
  const step = aligned ? trace.iterations.list.find(({ index }) => starts.has(index)) : undefined;
  return step ? starts.get(step.index)! - step.start_ns : null;
}

// Where times "from its first step on" count from, in its own window.
export const first_step_of = (trace: TraceInfo): number => trace.iterations.list[0]?.start_ns ?? 0;

// The ranks of these, and what is known of their traces.
export async function open_ranks(source: DataSource, all: Traces, clock: JobClock, ranks: number[]): Promise<void> {
  const wanted = new Set(ranks);
  await Promise.all(clock.ranks.filter(({ rank }) => wanted.has(rank)).map(({ t }) => open_trace(source, all, t)));
}
