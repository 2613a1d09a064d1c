// Reading a report's tables by name instead of by position.
import type { Cell, Report, Table } from "../api/types";

export class Rows {
  private readonly index = new Map<string, number>();

  constructor(readonly table: Table) {
    table.columns.forEach((column, at) => this.index.set(column.name, at));
  }

  has(column: string): boolean {
    return this.index.has(column);
  }
  get size(): number {
    return this.table.rows.length;
  }
  value(row: Cell[], column: string): Cell {
    const at = this.index.get(column);
    return at === undefined ? null : (row[at] ?? null);
  }
  number(row: Cell[], column: string): number | null {
    const value = this.value(row, column);
    return typeof value === "number" ? value : null;
  }
  text(row: Cell[], column: string): string {
    const value = this.value(row, column);
    return value === null ? "" : String(value);
  }
}

export function table_of(report: Report, name: string): Rows | null {
  const table = report.tables.find((each) => each.name === name);
  return table ? new Rows(table) : null;
}

export function rows_of(rows: Rows | null): Cell[][] {
  return rows?.table.rows ?? [];
}
