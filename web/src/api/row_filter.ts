// Which rows of a table a regular expression lets through. Who fetched the table says how to ask; a table of nobody's is looked through here.
import { matching_texts } from "./regex";
import type { Cell, Table } from "./types";

type RowFilter = (expression: string) => Promise<number[]>;
const filters = new WeakMap<Cell[][], RowFilter>(); // by the rows of a table

export function filter_with(table: Table, ask: RowFilter): void {
  filters.set(table.rows, ask);
}

// Indexes of rows, of which some text matches in any case.
export function matching_rows(table: Table, expression: string): Promise<number[]> {
  return filters.get(table.rows)?.(expression) ?? look_through(table, expression);
}

async function look_through({ rows }: Table, expression: string): Promise<number[]> {
  const texts = [...new Set(rows.flatMap((row) => row.filter((value): value is string => typeof value === "string")))];
  const hits = new Set((await matching_texts(expression, "i", texts)).map((i) => texts[i]!));
  return rows.flatMap((row, i) => (row.some((value) => typeof value === "string" && hits.has(value)) ? [i] : []));
}

// "/…/" is an expression, with or without the last slash; null: a plain text.
export function expression_of(text: string): string | null {
  const found = /^\/(.+?)\/?$/s.exec(text);
  return found ? found[1]! : null;
}
