// Questions in SQL: the query, what it may name, what was asked before, and the rows, which lead to the timeline where they tell an event
// or a time.
import type { Cell, Report } from "../api/types";
import { button, el, fill, shorten } from "../ui/dom";
import * as format from "../ui/format";
import { card, diagnostics, page_head, table_view } from "../ui/report_view";
import { note } from "../ui/router";
import { completions, sql_tables, word_before, type SqlTable } from "../ui/sql_names";
import { asked, type Context, type Page } from "./page";

const kFirst = "select name, count(*) as calls, sum(dur) as time_ns\nfrom slice\ngroup by 1\norder by 3 desc\nlimit 100";
const kMostRows = 10_000; // of an answer on the page
const kOffered = 8; // names
const kStore = "ridge.sql";
const kKept = 20; // queries

function history(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(kStore) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each): each is string => typeof each === "string") : [];
  } catch {
    return []; // no storage, or somebody else's
  }
}
function remember(query: string): void {
  try {
    localStorage.setItem(kStore, JSON.stringify([query, ...history().filter((each) => each !== query)].slice(0, kKept)));
  } catch {
    // a page without storage forgets
  }
}

// As RFC 4180 has it.
function csv(report: Report): string {
  const table = report.tables[0]!;
  const cell = (value: Cell | undefined): string => {
    const text = String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [table.columns.map((column) => cell(column.name)), ...table.rows.map((row) => row.map(cell))].map((line) => `${line.join(",")}\n`).join("");
}
function download(report: Report): void {
  const url = URL.createObjectURL(new Blob([csv(report)], { type: "text/csv" }));
  el("a", { href: url, download: "query.csv" }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export async function sql_page(context: Context): Promise<Page> {
  const tables = sql_tables(await context.source.analysis("sql", { t: context.t, tables: "true" }));
  const box = el("textarea", { class: "input sql-query", rows: "7", spellcheck: "false", "aria-label": "Query", autocomplete: "off", autocapitalize: "off" });
  box.value = context.parameters.get("query") ?? history()[0] ?? kFirst;
  const names = el("div", { class: "sql-names", role: "group", "aria-label": "Names that begin so" });
  const answer = el("div", { class: "sql-answer", "aria-live": "polite" });
  const before = el("div", { class: "sql-history" });
  let turn = 0;

  const insert = (text: string, over: number): void => {
    const at = box.selectionStart;
    box.setRangeText(text, at - over, box.selectionEnd, "end");
    box.focus();
    offer();
  };
  const offer = (): void => {
    const word = word_before(box.value, box.selectionStart);
    const found = completions(tables, box.value, box.selectionStart, kOffered);
    fill(names, ...found.map((name) => button(name, () => insert(name, word.length), { class: "btn small", tabindex: "-1" })));
  };
  const run = async (): Promise<void> => {
    const query = box.value.trim();
    if (!query) return;
    const mine = ++turn;
    fill(names);
    note({ query });
    fill(answer, el("p", { class: "muted" }, "Asking …"));
    try {
      const report = await context.source.analysis("sql", { ...asked(context), query, limit: String(kMostRows) });
      if (mine !== turn) return; // another was asked meanwhile
      remember(query);
      fill(answer, ...shown(report, context.t));
    } catch (error) {
      const { message, hint } = error as Error & { hint?: string };
      if (mine === turn) fill(answer, el("p", { class: "note error", role: "alert" }, el("b", {}, message), hint ? ` ${hint}` : ""));
    }
    show_history();
  };
  const show_history = (): void => {
    const asked_before = history();
    fill(
      before,
      ...asked_before.map((query) =>
        button(
          shorten(query.replace(/\s+/g, " "), 90),
          () => {
            box.value = query;
            void run();
          },
          { class: "btn small sql-past", title: query },
        ),
      ),
      asked_before.length ? null : el("p", { class: "muted" }, "Nothing was asked yet."),
    );
  };
  box.addEventListener("input", offer);
  box.addEventListener("keydown", (event: KeyboardEvent) => {
    event.stopPropagation(); // keys of the page are letters here
    const first = names.querySelector("button");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void run();
    else if (event.key === "Tab" && !event.shiftKey && first) first.click();
    else if (event.key === "Escape") fill(names);
    else return;
    event.preventDefault();
  });
  show_history();
  const element = el(
    "div",
    { class: "page" },
    page_head("SQL", "One SELECT on the trace's tables, on those that Perfetto has, and on every analysis."),
    card(
      "",
      box,
      names,
      el("div", { class: "sql-tools" }, button("Run", () => void run(), { class: "btn primary", title: "Ctrl+Enter" }), el("span", { class: "muted" }, "Ctrl+Enter runs, Tab completes")),
    ),
    answer,
    card("Asked before", before),
    card("Tables", ...listed(tables, (name) => insert(name, 0))),
  );
  if (context.parameters.get("query")) await run();
  return { element };
}

function shown(report: Report, t: number): (HTMLElement | null)[] {
  const table = report.tables[0]!;
  const cut = table.rows.length >= kMostRows;
  const title = `${format.count(table.rows.length)} ${table.rows.length === 1 ? "row" : "rows"}${cut ? ", the first of more" : ""}`;
  return [
    diagnostics(report.diagnostics),
    card(title, table.rows.length ? table_view(table, t, { height: "480px" }).element : null, button("Download CSV", () => download(report), { class: "btn small" })),
  ];
}

const kKinds: Record<string, string> = { trace: "The trace's own", perfetto: "As in Perfetto", analysis: "Analyses" };

function listed(tables: SqlTable[], insert: (name: string) => void): HTMLElement[] {
  return [...new Set(tables.map((table) => table.kind))].map((kind) =>
    el(
      "details",
      { class: "sql-kind", open: kind === "perfetto" },
      el("summary", {}, kKinds[kind] ?? kind),
      ...tables
        .filter((table) => table.kind === kind)
        .map((table) =>
          el(
            "p",
            { class: "sql-table" },
            button(table.name, () => insert(table.name), { class: "btn small" }),
            " ",
            ...table.columns.flatMap((column) => [button(column.name, () => insert(column.name), { class: "sql-column", title: `${column.type}: ${column.meaning}`, tabindex: "-1" }), " "]),
          ),
        ),
    ),
  );
}
