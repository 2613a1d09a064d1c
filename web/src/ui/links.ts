// Where a row of any report leads: to its event, its time or its name on the timeline, told by the columns' roles and names.
import type { Cell, Column, Table } from "../api/types";
import { link } from "./router";

// Columns whose text is the name of slices, most telling first.
const kNames = ["kernel", "op", "call", "graph"];

const kMargin = 0.15; // of a range's length, shown on both sides

export function range_link(t: number, start_ns: number, end_ns: number, more: Record<string, string | number | null> = {}): string {
  const margin = Math.max(1000, (end_ns - start_ns) * kMargin);
  return link("timeline", { t: t || null, r: `${Math.round(Math.max(0, start_ns - margin))}-${Math.round(end_ns + margin)}`, ...more });
}

export function search_link(t: number, name: string): string {
  return link("timeline", { t: t || null, q: name.slice(0, 200) });
}

// The page of one kernel, in depth; null for a name that no URL should carry.
const kLongestName = 2000;
export function kernel_link(t: number, name: string): string | null {
  return name && name.length <= kLongestName ? link("kernel", { t: t || null, name }) : null;
}

export function row_link(table: Table, t: number): (row: Cell[]) => string | null {
  const find = (wanted: (column: Column) => boolean): number => table.columns.findIndex(wanted);
  const event = find((column) => column.role === "event");
  const start = find((column) => column.role === "time_start");
  const end = find((column) => column.role === "time_end");
  const length = find((column) => ["duration_ns", "compile_ns", "dur_ns", "time_ns"].includes(column.name));
  const names = kNames.map((name) => find((column) => column.name === name)).filter((at) => at >= 0);
  return (row) => {
    const id = event >= 0 ? row[event] : null;
    if (typeof id === "number") return link("timeline", { t: t || null, s: id });
    const from = start >= 0 ? row[start] : null;
    if (typeof from === "number") {
      const to = end >= 0 ? row[end] : length >= 0 ? from + Number(row[length] ?? 0) : from;
      return range_link(t, from, Number(to), { a: `${from}-${Number(to)}` });
    }
    const name = names.map((at) => row[at]).find((value) => typeof value === "string" && value && !value.startsWith("["));
    return typeof name === "string" ? search_link(t, name) : null;
  };
}
