// The page that is read first: what to fix, then where the time went.
import type { Cell, Report } from "../api/types";
import { bars, stacked, type Part } from "../ui/charts";
import { el, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { name_link } from "../ui/links";
import { colour_of, step_colour } from "../ui/palette";
import { card, diagnostics, figures, page_head } from "../ui/report_view";
import { link } from "../ui/router";
import { rows_of, Rows, table_of } from "../ui/rows";
import { effective, scope_of } from "../ui/scope";
import { finding_links } from "./finding_place";
import { asked, type Context, type Page } from "./page";
import { kernel_door } from "./tables";

const kTopRows = 8;

export async function summary_page(context: Context): Promise<Page> {
  const optional = (name: string, more: Record<string, string> = {}): Promise<Report | null> =>
    context.all.analyses.some((each) => each.name === name)
      ? context.source.analysis(name, asked(context, more)).catch(() => null)
      : Promise.resolve(null);
  const [summary, found, gpu, kernels] = await Promise.all([
    context.source.analysis("summary", asked(context)),
    optional("findings"),
    optional("gpu"),
    optional("kernels", context.source.fixed ? {} : { limit: String(kTopRows) }),
  ]);
  const head = table_of(summary, "summary");
  const missing = missing_of(summary);
  return {
    element: el(
      "div",
      { class: "page" },
      page_head(context.trace.name, lead(context, head)),
      diagnostics(summary.diagnostics),
      head ? key_figures(head, missing) : null,
      findings(found ?? summary, context, missing),
      gpu ? window_bars(gpu, summary) : null,
      el(
        "div",
        { class: "columns" },
        categories(summary, context),
        kernels ? top(table_of(kernels, "kernels"), "Top kernels", "label", "time_ns", "kernel", context, "kernels") : null,
        top_ops(table_of(summary, "top_ops"), context),
        lacks(summary),
      ),
    ),
  };
}

function lead(context: Context, head: Rows | null): string {
  const row = head?.table.rows[0];
  const device = row && head ? head.text(row, "device") : "";
  const { trace } = context;
  // With a part of the trace chosen, these are that part's; how many events are in it is not told.
  const is_part = Object.keys(effective(context.source.fixed ? {} : scope_of(context.parameters), context.all.scope ?? {})).length > 0;
  const window_ns = (row && head ? head.number(row, "window_ns") : null) ?? (is_part ? null : trace.window_ns);
  const count = (row && head ? head.number(row, "iterations") : null) ?? (is_part ? 0 : trace.iterations.count);
  const { per } = trace.iterations;
  const iterations = count > 1 ? `${format.count(count)} iterations (by ${per.replaceAll("_", " ")})` : count === 1 || !is_part ? "one iteration" : "";
  if (!trace.events) return "no events";
  return [device, window_ns === null ? "" : `${format.time(window_ns)} window`, iterations, is_part ? "" : `${format.count(trace.events)} events`].filter(Boolean).join(" · ");
}

// What the recorder does to a figure stands under it.
type Figure = [column: string, name: string, text: (value: number) => string, note?: (head: Rows, row: Cell[]) => string];
const without_profiler =
  (column: string) =>
  (head: Rows, row: Cell[]): string => {
    const value = head.number(row, column);
    return value === null ? "" : `${format.percent(value)} without the profiler`;
  };
function median(head: Rows, row: Cell[]): string {
  const value = head.number(row, "median_iteration_ns");
  return value === null ? "" : `median ${format.time(value)}`;
}
function step_interval(head: Rows, row: Cell[]): string {
  const [low, high] = [head.number(row, "step_low_ns"), head.number(row, "step_high_ns")];
  return low === null || high === null ? "" : `${format.time(low)} to ${format.time(high)}`;
}
const kFigures: Figure[] = [
  ["gpu_busy_pct", "GPU busy", format.percent, without_profiler("gpu_busy_pct_of_step")],
  ["iteration_ns", "Iteration, mean", (value) => format.time(value), median],
  ["step_without_profiler_ns", "Step without the profiler", (value) => `≈ ${format.time(value)}`, step_interval],
  ["gpu_busy_per_iteration_ns", "GPU time per iteration", (value) => format.time(value)],
  ["device_events_per_iteration", "Device events per iteration", format.count],
  ["mfu_pct", "MFU", format.percent, without_profiler("mfu_pct_of_step")],
  ["bandwidth_pct", "Memory bandwidth used", format.percent],
  ["compiled_pct_gpu_time", "GPU time in compiled code", format.percent],
  ["graph_breaks", "Graph breaks", format.count],
  ["recompiles", "Recompiles", format.count],
  ["compile_ns", "Compiling", (value) => format.time(value)],
];

// What the trace was recorded without: "device work", "ops", ...
export function missing_of(summary: Report): string[] {
  const table = table_of(summary, "lacks");
  return rows_of(table).map((row) => table!.text(row, "lacks"));
}

function key_figures(head: Rows, missing: string[]): HTMLElement | null {
  const row = head.table.rows[0];
  if (!row) return null;
  const compiled = head.value(row, "compiled") === true && !missing.includes("ops"); // without the host, no break and no recompile can be seen
  const about_compile = ["compiled_pct_gpu_time", "graph_breaks", "recompiles", "compile_ns"];
  const items: [string, string, string?][] = [];
  for (const [column, name, text, note] of kFigures) {
    const value = head.number(row, column);
    if (value !== null && (value > 0 || column !== "compile_ns") && (compiled || !about_compile.includes(column) || value > 0))
      items.push([name, text(value), note?.(head, row)]);
  }
  return items.length ? figures(items) : null;
}

// Nothing found is good news only where there was something to look at.
function nothing_found(missing: string[], idle: boolean): string {
  const needed = ["device work", "ops"].filter((each) => missing.includes(each)).map((each) => (each === "ops" ? "the host's ops and launches" : each));
  if (idle) return "No rule found time to save, and the device idles for a cause that none of them covers: GPU and idle shows where.";
  return needed.length
    ? `Most rules had nothing to look at: this trace was recorded without ${needed.join(" and ")}.`
    : "Nothing stands out: no rule found time to save.";
}

function findings(report: Report, context: Context, missing: string[]): HTMLElement | null {
  const table = table_of(report, "findings");
  if (!table) return null;
  if (!table.size) return card("Findings", el("p", { class: "muted" }, nothing_found(missing, report.diagnostics.some((each) => each.code === "idle_without_finding"))));
  const open = finding_links(table.table, context.t, (id) => context.source.has("findings", asked(context, { claim: id })));
  return card("Findings", el("ol", { class: "findings" }, ...table.table.rows.map((row) => finding(table, row, open(row)))));
}

function finding(table: Rows, row: Cell[], target: string | null): HTMLElement {
  const at_most = table.number(row, "at_most_ns");
  const saves = table.number(row, "saves_ns");
  const [low, high] = [table.number(row, "low_pct"), table.number(row, "high_pct")];
  const confidence = table.text(row, "confidence");
  const title = shorten(format.prose(table.text(row, "finding")), 400);
  return el(
    "li",
    { class: "finding" },
    el(
      "div",
      { class: "finding-at-most" },
      saves === null ? el("b", { class: "muted" }, format.kUnknown) : el("b", { title: "what mending it saves of a step that nobody records, about" }, `${saves > 0 ? "− " : ""}${format.time(saves)}`),
      low === null || high === null ? null : el("small", { class: "muted", title: "of the step, in four of five cases" }, `${format.percent(Math.max(0, low))} to ${format.percent(high)}`),
      at_most === null ? null : el("small", { class: "muted" }, `at most ${format.time(at_most)}`),
    ),
    el(
      "div",
      { class: "finding-text" },
      el(
        "h3",
        {},
        target ? el("a", { href: target }, title) : title,
        confidence ? el("span", { class: `tag ${confidence}` }, `${confidence} confidence`) : null,
      ),
      el("p", { class: "muted" }, shorten(format.prose(table.text(row, "evidence")), 800)),
      table.text(row, "do") ? el("p", {}, el("b", {}, "Do: "), shorten(format.prose(table.text(row, "do")), 800)) : null,
    ),
    target ? el("a", { class: "btn small", href: target, "aria-label": `Show on the timeline: ${title}` }, "Timeline →") : null,
  );
}

// The window of each device as one bar: its busy parts, then why it was idle.
export function window_bars(gpu: Report, summary: Report | null = null): HTMLElement | null {
  const devices = table_of(gpu, "gpu");
  const idle = table_of(gpu, "idle") ?? (summary ? table_of(summary, "idle") : null);
  if (!devices?.size) return null;
  return card(
    "Where the time went",
    ...devices.table.rows.map((row) => {
      const device = devices.value(row, "device");
      const window_ns = devices.number(row, "window_ns") ?? 0;
      const part = (name: string, column: string, index: number): Part => ({
        name: name.replaceAll("_", " "),
        value: devices.number(row, column) ?? 0,
        colour: step_colour(name, index),
      });
      const parts = [
        part("compute", "compute_ns", 0),
        part("exposed_comm", "exposed_comm_ns", 1),
        part("exposed_copy", "exposed_copy_ns", 2),
      ];
      const causes = rows_of(idle).filter((each) => !idle!.has("device") || idle!.value(each, "device") === device);
      causes.forEach((each, i) =>
        parts.push({
          name: `idle: ${idle!.text(each, "cause").replaceAll("_", " ")}`,
          value: idle!.number(each, "time_ns") ?? 0,
          colour: step_colour(idle!.text(each, "cause"), i + 3),
          title: idle!.text(each, "meaning"),
          idle: true,
        }),
      );
      const busy = devices.number(row, "busy_pct");
      return el(
        "div",
        { class: "device-bar" },
        el(
          "h3",
          {},
          el("b", {}, `GPU ${device}`),
          el("span", { class: "muted" }, ` ${devices.text(row, "name")}`),
          el("span", { class: "grow" }),
          el("span", {}, el("b", {}, format.percent(busy)), el("small", { class: "muted" }, ` busy of ${format.time(window_ns)}`)),
        ),
        stacked(parts, window_ns, (value) => format.time(value)),
      );
    }),
  );
}

function categories(summary: Report, context: Context): HTMLElement | null {
  const table = table_of(summary, "categories");
  if (!table?.size) return null;
  const items = table.table.rows.map((row) => ({
    label: table.text(row, "category"),
    value: table.number(row, "time_ns") ?? 0,
    text: format.time(table.number(row, "time_ns")),
    note: format.percent(table.number(row, "pct_gpu_time")),
    colour: colour_of(table.text(row, "category")),
  }));
  return more(card("Device time by category", bars(items, "Device time by category")), "categories", context);
}

// `name` is the column that says how slices are called: a kernel's label is shorter, and may be that of several.
function top(
  table: Rows | null,
  title: string,
  label: string,
  value: string,
  name: string,
  context: Context,
  page: string,
): HTMLElement | null {
  if (!table?.size) return null;
  const door = kernel_door(context);
  const items = table.table.rows.slice(0, kTopRows).map((row) => ({
    label: table.text(row, label),
    value: table.number(row, value) ?? 0,
    text: format.time(table.number(row, value)),
    note: `× ${format.count(table.number(row, "count") ?? 0)}`,
    colour: table.has("category") ? colour_of(table.text(row, "category")) : colour_of("cpu_op"),
    href: (name === "kernel" ? door(row, (column) => table.value(row, column)) : null) ?? name_link(context.t, table.text(row, name)),
  }));
  const box = card(title, bars(items, title));
  box.classList.add("names");
  return more(box, page, context);
}

// By what they cost the device, or the host where no device was recorded. Of the device alone no op is known.
function top_ops(table: Rows | null, context: Context): HTMLElement | null {
  if (!rows_of(table).some((row) => table!.number(row, "count"))) return null;
  const on_device = rows_of(table).some((row) => table!.number(row, "device_self_ns"));
  const [title, time] = on_device ? ["Top ops", "device_self_ns"] : ["Top ops on the host", "cpu_self_ns"];
  return top(table, title!, "op", time!, "op", context, "ops");
}

function more(box: HTMLElement, page: string, context: Context): HTMLElement {
  box.querySelector("h2")?.append(el("a", { class: "more", href: link(page, { t: context.t || null }) }, "all →"));
  return box;
}

function lacks(summary: Report): Child {
  const table = table_of(summary, "lacks");
  if (!table?.size) return null;
  return card(
    "What this trace lacks",
    el(
      "ul",
      { class: "notes" },
      ...table.table.rows.map((row) =>
        el(
          "li",
          { class: "note info" },
          table.text(row, "lacks"),
          " ",
          el("span", { class: "muted" }, "Add it with "),
          el("code", {}, table.text(row, "add_with")),
        ),
      ),
    ),
  );
}
