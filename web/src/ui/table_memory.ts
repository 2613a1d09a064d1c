// What a reader has made of a table, kept while the tab is open: the page may be left and made anew. By page and table, not by trace:
// who sorts kernels by count wants them so in the next trace too.
import { here } from "./router";

export interface TableState {
  sort?: string; // "-count": downwards
  widths?: Record<string, number>; // px, of columns by name
  all_columns?: boolean;
}

const kStore = "ridge-tables";
const kMost = 200; // tables

function read(): Record<string, TableState> {
  try {
    return (JSON.parse(sessionStorage.getItem(kStore) ?? "{}") as Record<string, TableState>) ?? {};
  } catch {
    return {}; // no storage here, or not ours
  }
}

const states = read();

const key_of = (table: string): string => `${here().page || "summary"}/${table}`;

export const recall = (table: string): TableState => states[key_of(table)] ?? {};

export function remember(table: string, changes: TableState): void {
  const key = key_of(table);
  const state = { ...states[key], ...changes };
  delete states[key];
  states[key] = state; // the last in order
  const old = Object.keys(states);
  for (const each of old.slice(0, Math.max(0, old.length - kMost))) delete states[each];
  try {
    sessionStorage.setItem(kStore, JSON.stringify(states));
  } catch {
    // it is kept until the page is loaded again
  }
}
