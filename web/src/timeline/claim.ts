// The time that a finding claims: idle gaps and work of a device, piece by piece, and its sum in each iteration. The place to look at is the iteration
// in which the finding claims most.
import type { DataSource } from "../api/source";
import type { Cell, Report } from "../api/types";
import { rows_of, Rows, table_of } from "../ui/rows";
import type { Range } from "./view";

const kMostPieces = 20_000; // the longest are lit

export interface ClaimPiece extends Range {
  device: number;
  stream: number | null; // null: idle time, of the whole device
  name: string; // of the work, or the cause
  label: string; // the same, as the page of kernels has it
  time_ns: number; // claimed of it
  event: number | null;
}

export interface ClaimSum {
  device: number;
  iteration: number | null;
  from: number;
  to: number;
  pieces: number;
  time_ns: number;
}

export interface Claim {
  id: string;
  title: string;
  action: string;
  at_most_ns: number | null; // per iteration, as the finding says
  event: number | null; // the slice that is blamed most
  pieces: ClaimPiece[]; // in order of time, of the device that it claims most of
  sums: ClaimSum[]; // of that device, by iteration
  best: ClaimSum;
  total_ns: number; // of that device
  total_pieces: number;
}

// null: the finding claims no time, or is not one of this trace's.
export async function load_claim(source: DataSource, t: number, scope: Record<string, string>, id: string): Promise<Claim | null> {
  const asked = { ...scope, claim: id, t };
  const [report, kernels] = await Promise.all([
    source.analysis("findings", source.fixed ? asked : { ...asked, sort: "time_ns", limit: kMostPieces }),
    source.analysis("kernels", { ...scope, t }).catch(() => null), // without them names stay as they are
  ]);
  const claim = read_claim(report, id);
  if (claim && kernels) label_pieces(claim.pieces, table_of(kernels, "kernels"));
  return claim;
}

// Raw names of kernels of one template begin alike for hundreds of letters.
function label_pieces(pieces: ClaimPiece[], kernels: Rows | null): void {
  const labels = new Map(rows_of(kernels).map((row) => [kernels!.text(row, "kernel"), kernels!.text(row, "label")]));
  for (const piece of pieces) if (piece.stream !== null) piece.label = labels.get(piece.name) || piece.name;
}

function read_claim(report: Report, id: string): Claim | null {
  const found = table_of(report, "findings");
  const row = rows_of(found).find((each) => found!.text(each, "id") === id);
  const sums = sums_of(table_of(report, "claim_iterations"));
  if (!found || !row || !sums.length) return null;
  const best = sums.reduce((most, each) => (each.time_ns > most.time_ns ? each : most));
  const pieces = rows_of(table_of(report, "claim")).map((each) => piece_of(table_of(report, "claim")!, each));
  return {
    id,
    title: found.text(row, "finding"),
    action: found.text(row, "do"),
    at_most_ns: found.number(row, "at_most_ns"),
    event: found.number(row, "event"),
    pieces: pieces.filter((each) => each.device === best.device).sort((a, b) => a.from - b.from),
    sums,
    best,
    total_ns: sums.reduce((sum, each) => sum + each.time_ns, 0),
    total_pieces: sums.reduce((sum, each) => sum + each.pieces, 0),
  };
}

// Of the device with most time: devices run side by side.
function sums_of(table: Rows | null): ClaimSum[] {
  const all = rows_of(table).map((row) => ({
    device: table!.number(row, "device") ?? 0,
    iteration: table!.number(row, "iteration"),
    from: table!.number(row, "start_ns") ?? 0,
    to: table!.number(row, "end_ns") ?? 0,
    pieces: table!.number(row, "pieces") ?? 0,
    time_ns: table!.number(row, "time_ns") ?? 0,
  }));
  const by_device = new Map<number, number>();
  for (const each of all) by_device.set(each.device, (by_device.get(each.device) ?? 0) + each.time_ns);
  const most = [...by_device].sort((a, b) => b[1] - a[1])[0]?.[0];
  return all.filter((each) => each.device === most);
}

function piece_of(table: Rows, row: Cell[]): ClaimPiece {
  return {
    from: table.number(row, "start_ns") ?? 0,
    to: table.number(row, "end_ns") ?? 0,
    device: table.number(row, "device") ?? 0,
    stream: table.text(row, "kind") === "work" ? table.number(row, "stream") : null,
    name: table.text(row, "name"),
    label: table.text(row, "name"),
    time_ns: table.number(row, "time_ns") ?? 0,
    event: table.number(row, "event"),
  };
}
