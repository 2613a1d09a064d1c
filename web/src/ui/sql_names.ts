// Names of tables and columns for a query: what the server lists, by table, and which of them a half-written word may become.
import type { Report } from "../api/types";
import { rows_of, table_of } from "./rows";

export interface SqlTable {
  name: string;
  kind: string; // trace, perfetto, analysis
  columns: { name: string; type: string; meaning: string }[];
}

export function sql_tables(report: Report): SqlTable[] {
  const rows = table_of(report, "sql");
  const by_name = new Map<string, SqlTable>();
  for (const row of rows_of(rows ?? null)) {
    const name = rows!.text(row, "table");
    const table = by_name.get(name) ?? { name, kind: rows!.text(row, "kind"), columns: [] };
    by_name.set(name, table);
    table.columns.push({ name: rows!.text(row, "column"), type: rows!.text(row, "type"), meaning: rows!.text(row, "meaning") });
  }
  return [...by_name.values()];
}

// The word that ends at this place of a text.
export const word_before = (text: string, at: number): string => /[A-Za-z_][A-Za-z_0-9]*$/.exec(text.slice(0, at))?.[0] ?? "";

// Tables first, then the columns of tables that the query names, then other columns.
export function completions(tables: SqlTable[], text: string, at: number, most: number): string[] {
  const word = word_before(text, at).toLowerCase();
  if (!word) return [];
  const named = new Set(text.toLowerCase().match(/[a-z_][a-z_0-9]*/g) ?? []);
  const chosen = tables.filter((table) => named.has(table.name));
  const names = [...tables, ...chosen.flatMap((table) => table.columns), ...tables.flatMap((table) => table.columns)].map((each) => each.name);
  return [...new Set(names)].filter((name) => name.startsWith(word) && name !== word).slice(0, most);
}
