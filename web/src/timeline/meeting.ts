// A collective as all of its ranks met in it: when each arrived and how long it waited, by the common clock of the job, and which slice is each rank's
// where its timeline is shown.
import type { DataSource } from "../api/source";
import type { Cell, Report, SliceDetails, Track } from "../api/types";
import { rows_of, Rows, table_of } from "../ui/rows";
import { first_step_of, type JobClock } from "./job_clock";
import type { State } from "./state";

export interface Arrival {
  rank: number;
  after_ns: number; // behind the first to arrive
  wait_ns: number;
  transfer_ns: number;
  slice: { id: number; track: number; depth: number; start_ns: number; dur_ns: number } | null; // on the axis; null: not shown
}

export interface Meeting {
  of: number; // the slice that it was asked for
  name: string;
  group: string;
  bytes: number | null;
  expected: number | null; // how many ranks take part
  arrivals: Arrival[]; // the last to arrive first
}

const kComm = /nccl|gloo|c10d|rccl|mpi:|ucc:|all_?reduce|all_?gather|reduce_?scatter|broadcast|all_?to_?all|send|recv|barrier/i;

// null: it is no collective of a job, or no other rank is known to have met in it.
export async function meeting_of(state: State, slice: SliceDetails): Promise<Meeting | null> {
  const clock = state.job && (slice.category === "comm" || kComm.test(slice.name)) ? await state.job() : null;
  return clock && load_meeting(state, clock, slice).catch(() => null);
}

async function load_meeting(state: State, clock: JobClock, slice: SliceDetails): Promise<Meeting | null> {
  const t = slice.of?.t ?? state.t;
  const own = clock.ranks.find((each) => each.t === t);
  if (!own) return null;
  const trace = state.alignment?.find((each) => each.t === t)?.trace ?? state.trace;
  const start = slice.start_ns - (slice.of?.shift_ns ?? 0) - first_step_of(trace);
  const rows = await arrivals(state.source, own.rank, start);
  if (!rows || rows.list.length < 2) return null;
  const { table, list } = rows;
  const number = (row: Cell[], column: string): number => table.number(row, column) ?? 0;
  const met = list.map(async (row): Promise<Arrival> => {
    const rank = number(row, "rank");
    const place = await slice_of(state, slice, rank, number(row, "own_start_ns"), number(row, "wait_ns") + number(row, "transfer_ns")).catch(() => null);
    return { rank, after_ns: number(row, "after_ns"), wait_ns: number(row, "wait_ns"), transfer_ns: number(row, "transfer_ns"), slice: place };
  });
  const first = list[0]!;
  return {
    of: slice.id,
    name: table.text(first, "name"),
    group: table.text(first, "group"),
    bytes: table.number(first, "bytes"),
    expected: table.number(first, "expected"),
    arrivals: (await Promise.all(met)).sort((a, b) => b.after_ns - a.after_ns || a.rank - b.rank),
  };
}

// The rows of the collective that a rank began at a time of its own, from its first step on. A report holds those of all collectives, or none.
async function arrivals(source: DataSource, rank: number, start: number): Promise<{ table: Rows; list: Cell[][] } | null> {
  if (!source.has("arrivals")) return null;
  const report: Report = await source.analysis("arrivals", source.fixed ? {} : { rank, at: start });
  const table = table_of(report, "arrivals");
  if (!table) return null;
  const all = rows_of(table);
  if (!source.fixed) return { table, list: all };
  const own = all.find((row) => table.number(row, "rank") === rank && table.number(row, "own_start_ns") === start);
  const meeting = own ? table.number(own, "meeting") : null;
  return meeting === null ? null : { table, list: all.filter((row) => table.number(row, "meeting") === meeting) };
}

// On the tracks of that rank: the one that is called like the selected one first.
async function slice_of(state: State, like: SliceDetails, rank: number, own_start: number, dur_ns: number): Promise<Arrival["slice"]> {
  const part = state.alignment?.find((each) => each.rank === rank);
  if (!part) return null;
  const bare = (track: Track | null): string => track?.name.replace(/^rank \d+ · /, "") ?? "";
  const mine = state.lanes.find(like.track);
  if (like.of?.t === part.t) return { id: like.id, track: like.track, depth: like.depth, start_ns: like.start_ns, dur_ns: like.dur_ns };
  const tracks = state.lanes.groups
    .filter((group) => group.part === part.label)
    .flatMap((group) => group.tracks)
    .filter((track) => track.id >= 0 && track.kind === mine?.kind)
    .sort((a, b) => Number(bare(b) === bare(mine)) - Number(bare(a) === bare(mine)));
  const at = first_step_of(part.trace) + own_start + part.shift_ns;
  for (const track of tracks) {
    const { depths, names } = await state.source.slices(state.t, track.id, at, at + 1, 1);
    for (const { depth, slices } of depths) {
      const i = slices.start.findIndex((start, i) => start === at && slices.dur[i] === dur_ns && kComm.test(names[slices.name[i]!] ?? ""));
      if (i >= 0) return { id: slices.id[i]!, track: track.id, depth, start_ns: at, dur_ns };
    }
  }
  return null;
}
