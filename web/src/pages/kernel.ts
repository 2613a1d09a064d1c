// One kernel in depth: what it cost, how near its roof it ran, how its durations spread, and where it comes from.
import type { Cell, Report } from "../api/types";
import { bars } from "../ui/charts";
import { el, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { name_link } from "../ui/links";
import { colour_of } from "../ui/palette";
import { card, diagnostics, figures, page_head, table_card } from "../ui/report_view";
import { link } from "../ui/router";
import { roof_bar } from "../ui/roof_bar";
import { rows_of, table_of, type Rows } from "../ui/rows";
import { chip } from "../ui/columns";
import { bench_cards, script_card, source_card } from "./kernel_alone";
import { asked, type Context, type Page } from "./page";

// What the figures and the lists of the head say already, or what a table below says better.
const kShownAbove = new Set(["kernel", "label", "category", "count", "time_ns", "pct_gpu_time", "mean_ns", "bound", "headroom_ns", "roof_ns", "slowdown"]);
const kFirst = ["op", "input_dims", "grid", "block", "location", "stream", "file"];
const kSpread = ["min_ns", "p10_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "stddev_ns"];

export async function kernel_page(context: Context): Promise<Page> {
  const name = context.parameters.get("name") ?? "";
  const report = await context.source.analysis("kernel", asked(context, { name }));
  const table = table_of(report, "kernel");
  const row = table?.table.rows[0];
  if (!table || !row) return { element: el("p", { class: "empty muted" }, "This trace has no such kernel.") };
  const category = table.text(row, "category");
  const kernel = table.text(row, "kernel");
  const measured = await bench_cards(context, kernel);
  return {
    element: el(
      "div",
      { class: "page" },
      page_head(
        shorten(table.text(row, "label") || name, 200),
        null,
        category ? chip(category) : el("span", { class: "grow" }),
        el("a", { class: "btn small", href: link("kernels", { t: context.t || null }) }, "All kernels"),
        el("a", { class: "btn small primary", href: name_link(context.t, table.text(row, "kernel")) }, "Timeline →"),
      ),
      head_figures(table, row),
      el("div", { class: "columns" }, work(table, row), spread(report, table, row, category)),
      diagnostics(report.diagnostics),
      ...measured,
      script_card(context, kernel),
      source_card(report),
      ...report.tables.filter((each) => !["kernel", "durations", "source"].includes(each.name)).map((each) => table_card(each, context.t, { first: kFirst })),
    ),
  };
}

function head_figures(table: Rows, row: Cell[]): HTMLElement {
  const share = table.number(row, "pct_gpu_time");
  const of_roof = table.number(row, "pct_of_roof");
  const slowdown = table.number(row, "slowdown");
  return figures([
    ["Time", format.time(table.number(row, "time_ns")), share === null ? "" : `${format.percent(share)} of GPU time`],
    ["Launches", format.count(table.number(row, "count") ?? 0)],
    ["Mean", format.time(table.number(row, "mean_ns"))],
    ["Bound by", table.text(row, "bound") || format.kUnknown],
    ["Of its roof", format.percent(of_roof)],
    ["Headroom", format.time(table.number(row, "headroom_ns")), "if it ran at its roof"],
    ["Slowdown", slowdown === null ? format.kUnknown : `${slowdown.toFixed(1)} x`, "of what such work takes"],
  ]);
}

function work(table: Rows, row: Cell[]): Child {
  const known = table.table.columns.filter(
    (column) => !kShownAbove.has(column.name) && !kSpread.includes(column.name) && table.value(row, column.name) !== null,
  );
  return card(
    "Work and roof",
    roof_bar(table.number(row, "roof_ns"), table.number(row, "time_ns") ?? 0),
    el(
      "dl",
      { class: "pairs" },
      ...known.flatMap((column) => [
        el("dt", {}, format.heading(column.name, column.unit)),
        el("dd", {}, shorten(format.cell(table.value(row, column.name), column), 2000)),
      ]),
      el("dt", {}, "Full name"),
      el("dd", { class: "code" }, shorten(table.text(row, "kernel"), 4000)),
    ),
  );
}

// The histogram of durations, and the percentiles beside it.
function spread(report: Report, table: Rows, row: Cell[], category: string): Child {
  const durations = table_of(report, "durations");
  if (!durations?.size) return null;
  const items = rows_of(durations).map((each) => ({
    label: `${format.time(durations.number(each, "from_ns"))} – ${format.time(durations.number(each, "to_ns"))}`,
    value: durations.number(each, "count") ?? 0,
    text: format.count(durations.number(each, "count") ?? 0),
    note: format.percent(durations.number(each, "pct_launches")),
    colour: colour_of(category),
  }));
  const figure = (column: string): Child => el("span", {}, el("small", { class: "muted" }, `${format.heading(column)} `), format.time(table.number(row, column)));
  return card(
    "Durations",
    el("div", { class: "row num spread" }, ...kSpread.filter((column) => table.number(row, column) !== null).map(figure)),
    bars(items, "Launches by duration"),
  );
}
