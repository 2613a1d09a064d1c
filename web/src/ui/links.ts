// Where a row of any report leads: to its event, its time or its exact name on the timeline, told by the columns' roles and names.
import type { Cell, Column, Table } from "../api/types";
import { kExactMark } from "../api/name_match";
import { link } from "./router";

// Columns whose text is the name of slices, most telling first.
const kNames = ["kernel", "op", "call"];

const kMargin = 0.15; // of a range's length, shown on both sides

export function range_link(t: number, start_ns: number, end_ns: number, more: Record<string, string | number | null> = {}): string {
  const margin = Math.max(1000, (end_ns - start_ns) * kMargin);
  return link("timeline", { t: t || null, r: `${Math.round(Math.max(0, start_ns - margin))}-${Math.round(end_ns + margin)}`, ...more });
}

// The search that means slices of exactly this name. Of one that no URL should carry it means those that begin alike.
const kLongestQuery = 5000; // characters of a URL
export function exactly(name: string): string {
  let kept = name;
  while (encodeURIComponent(kept).length > kLongestQuery) kept = kept.slice(0, Math.floor(kept.length * 0.8));
  kept = kept.replace(/[\ud800-\udbff]$/, ""); // half a character
  return `${kExactMark}${kept}${kept === name ? "" : "…"}`;
}

export function name_link(t: number, name: string): string {
  return link("timeline", { t: t || null, q: exactly(name) });
}
// Names that begin so.
export function prefix_link(t: number, begin: string): string {
  return link("timeline", { t: t || null, q: `${kExactMark}${begin}…` });
}
export function event_link(t: number, id: number): string {
  return link("timeline", { t: t || null, s: id });
}

// The page of one kernel, in depth; null for a name that no URL should carry.
const kLongestName = 2000;
export function kernel_link(t: number, name: string): string | null {
  return name && name.length <= kLongestName ? link("kernel", { t: t || null, name }) : null;
}

// The columns that hold events, and of which trace: `event_b` is the second trace's, `event` that of the page.
export function events_of(table: Table, t: number): { at: number; t: number }[] {
  return table.columns.flatMap((column, at) => {
    if (column.role !== "event") return [];
    const letter = /^event_([a-z])$/.exec(column.name)?.[1];
    return [{ at, t: letter ? letter.charCodeAt(0) - "a".charCodeAt(0) : t }];
  });
}

export function row_link(table: Table, t: number): (row: Cell[]) => string | null {
  const find = (wanted: (column: Column) => boolean): number => table.columns.findIndex(wanted);
  const events = events_of(table, t);
  const start = find((column) => column.role === "time_start");
  const end = find((column) => column.role === "time_end");
  const length = find((column) => ["duration_ns", "compile_ns", "dur_ns", "time_ns"].includes(column.name));
  const names = kNames.map((name) => find((column) => column.name === name)).filter((at) => at >= 0);
  return (row) => {
    for (const { at, t } of events) {
      const id = row[at];
      if (typeof id === "number") return event_link(t, id);
    }
    const from = start >= 0 ? row[start] : null;
    if (typeof from === "number") {
      const to = end >= 0 ? row[end] : length >= 0 ? from + Number(row[length] ?? 0) : from;
      return range_link(t, from, Number(to), { a: `${from}-${Number(to)}` });
    }
    const name = names.map((at) => row[at]).find((value) => typeof value === "string" && value && !value.startsWith("["));
    return typeof name === "string" ? name_link(t, name) : null;
  };
}
