// Where the page's data comes from: a door of two forms, HTTP (ridge serve) and JSON embedded in the file (ridge report).
// Every view asks this and nothing else, so both show the same. Which form a page has: open_source.ts.
import type { Area, Flame, Counter, Hits, Mark, Overview, Report, SliceDetails, Slices, TraceInfo, TrackGroup, Traces } from "./types";

export const kSearchPage = 1000; // hits an answer

export type Parameters = Record<string, string | number | string[]>; // a list: the parameter once for each

export interface SlicesPlace {
  url: string;
  shift_ns: number; // to be added to its times
  first_id: number; // to its ids
}

export interface DataSource {
  // True: answers are a fixed set (a report on disk), and what is missing stays missing.
  readonly fixed: boolean;
  // False: the whole window of each track is one answer.
  windows(t: number): boolean;
  // False: this answer is not embedded, so a control that would ask for it is not shown.
  has(path: string, parameters?: Parameters): boolean;

  // Tells whenever the server is lost and whenever it is there again. Of a fixed set: never.
  watch(told: (there: boolean) => void): void;
  // Asks whether it is there: somebody else's question failed.
  check(): void;

  traces(): Promise<Traces>;
  trace(t: number): Promise<TraceInfo>; // one that was closed
  analysis(name: string, parameters?: Parameters): Promise<Report>;
  tracks(t: number): Promise<TrackGroup[]>;
  slices(t: number, track: number, from: number, to: number, px: number, signal?: AbortSignal): Promise<Slices>;
  slices_place(t: number, track: number, from: number, to: number, px: number): SlicesPlace; // where that answer is, for who reads it himself; not of a fixed set
  slice(t: number, id: number): Promise<SliceDetails>;
  neighbour(t: number, id: number, direction: "next" | "prev"): Promise<number | null>;
  area(t: number, from: number, to: number, tracks: number[], signal?: AbortSignal): Promise<Area>;
  flame(t: number, from: number, to: number, tracks: number[]): Promise<Flame>; // not of a fixed set
  search(t: number, text: string, skip: number, signal?: AbortSignal): Promise<Hits>; // at most kSearchPage of them, from number `skip` on
  marks(t: number): Promise<Mark[]>;
  overview(t: number): Promise<Overview>;
  counters(t: number): Promise<Counter[]>;
}

// An answer that says no: `message` and `hint` are for the reader.
export class SourceError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint = "",
  ) {
    super(message);
  }
}

// "/api/v1/name?a=1&b=2" with sorted keys: how a report's answers are keyed.
export function canonical(path: string, parameters: Parameters = {}): string {
  const keys = Object.keys(parameters).sort();
  const one = (key: string, value: string | number): string => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`;
  const query = keys.flatMap((key) => [parameters[key]!].flat().map((value) => one(key, value))).join("&");
  return `/api/v1/${path}${query ? `?${query}` : ""}`;
}
