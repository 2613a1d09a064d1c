// Any report, whatever the analysis: one-row tables as figures, longer ones as tables, series as curves, diagnostics on top.
// New analyses appear through this without a line of code here.
import type { Cell, Diagnostic, Report, Table } from "../api/types";
import { curves } from "./charts";
import { el, shorten, type Child } from "./dom";
import * as format from "./format";
import { range_link, row_link } from "./links";
import { step_colour } from "./palette";
import { go } from "./router";
import { TableView, type TableOptions } from "./table";

export function card(title: string, ...children: Child[]): HTMLElement {
  return el("section", { class: "card" }, title ? el("h2", {}, title) : null, ...children);
}

export function page_head(title: string, lead: Child = null, ...tools: Child[]): HTMLElement {
  return el("header", { class: "page-head" }, el("h1", {}, title), lead ? el("p", { class: "lead" }, lead) : null, ...tools);
}

export function figures(items: [string, string, string?][]): HTMLElement {
  return el(
    "dl",
    { class: "figures" },
    ...items.map(([name, value, note]) =>
      el(
        "div",
        { class: "figure" },
        el("dt", {}, name),
        el("dd", {}, shorten(value, 120)),
        note ? el("dd", { class: "figure-note" }, el("small", { class: "muted" }, format.unbroken(note))) : null,
      ),
    ),
  );
}

export function diagnostics(list: Diagnostic[]): HTMLElement | null {
  if (!list.length) return null;
  return el(
    "ul",
    { class: "notes" },
    ...list.map((each) =>
      el(
        "li",
        { class: `note ${each.severity ?? "warning"}` },
        el("b", {}, each.code),
        " ",
        shorten(format.prose(each.message), 600),
        each.count > 1 ? el("span", { class: "muted" }, ` (${format.count(each.count)})`) : null,
      ),
    ),
  );
}

// A table with one row and many columns reads better as names and values.
function key_values(table: Table): HTMLElement {
  const row = table.rows[0]!;
  const known = table.columns.map((column, at) => ({ column, value: row[at] ?? null })).filter(({ column, value }) => value !== null && column.role !== "event");
  return el(
    "dl",
    { class: "pairs" },
    ...known.flatMap(({ column, value }) => [
      el("dt", {}, format.heading(column.name, column.unit)),
      el("dd", {}, shorten(format.cell(value, column), 2000)),
    ]),
  );
}

// Rows of a tree are indented by their depth, when the table tells it.
function indent(table: Table): TableOptions["cell"] {
  const depth = table.columns.findIndex((column) => column.name === "depth");
  const name = table.columns.find((column) => column.type === "text");
  if (depth < 0 || !table.parent) return undefined;
  return (column, value, row) =>
    column === name
      ? el("span", { style: { "padding-left": `${12 * Number(row[depth] ?? 0)}px` } }, shorten(format.cell(value, column), 400))
      : undefined;
}

export function table_view(table: Table, t: number, options: TableOptions = {}): TableView {
  const open = row_link(table, t);
  return new TableView(table, { open: (row: Cell[]) => open(row), cell: indent(table), label: format.heading(table.name), ...options });
}

export function table_card(table: Table, t: number, options: TableOptions = {}, title = format.heading(table.name)): HTMLElement | null {
  if (!table.rows.length) return null;
  if (table.rows.length === 1 && table.columns.length > 5) {
    const target = row_link(table, t)(table.rows[0]!);
    return card(title, key_values(table), target ? el("a", { class: "btn small", href: target }, "Timeline →") : null);
  }
  return card(title, table_view(table, t, options).element);
}

export function series_card(report: Report, window_ns: number, t: number, title = "Over time"): HTMLElement | null {
  if (!report.series.length) return null;
  const by_unit = new Map<string, typeof report.series>();
  for (const each of report.series) by_unit.set(String(each.unit), [...(by_unit.get(String(each.unit)) ?? []), each]);
  const jump = (time: number): void => go(range_link(t, time - window_ns / 100, time + window_ns / 100));
  return card(
    title,
    ...[...by_unit.values()].map((group) =>
      curves(
        group.slice(0, 8),
        window_ns,
        group.map((each, i) => step_colour(each.name, i)),
        jump,
      ),
    ),
  );
}

export function any_report(report: Report, window_ns: number, t: number, skip: string[] = []): Child[] {
  const tables = report.tables.filter((table) => !skip.includes(table.name));
  const cards = tables.map((table) => table_card(table, t)).filter(Boolean);
  const empty = !cards.length && !report.series.length;
  return [
    diagnostics(report.diagnostics),
    series_card(report, window_ns, t),
    ...cards,
    empty ? el("p", { class: "empty muted" }, "Nothing to show for this trace.") : null,
  ];
}
