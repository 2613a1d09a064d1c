// How busy each device was and why it was idle: stacked bars, the longest gaps, queue depth, memory over time.
import type { Cell, Report } from "../api/types";
import { el, type Child } from "../ui/dom";
import { card, diagnostics, figures, page_head, series_card, table_card } from "../ui/report_view";
import * as format from "../ui/format";
import { Rows, table_of } from "../ui/rows";
import { asked, type Context, type Page } from "./page";
import { window_bars } from "./summary";

const kMostGaps = 1000; // a large trace has a million, which nobody reads

export async function gpu_page(context: Context): Promise<Page> {
  const ask = (name: string, more: Record<string, string> = {}): Promise<Report | null> =>
    context.source.analysis(name, asked(context, more)).catch(() => null);
  const few: Record<string, string> = context.source.fixed ? {} : { limit: String(kMostGaps) };
  const [gpu, gaps, launches, memory] = await Promise.all([ask("gpu"), ask("gaps", few), ask("launches"), ask("memory")]);
  const sources = gpu && table_of(gpu, "idle_sources");
  const longest = gaps && table_of(gaps, "gaps");
  const window_ns = context.trace.window_ns;
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("GPU and idle", "Busy time is the union of kernels, copies and memsets; every idle nanosecond has one cause."),
      gpu ? diagnostics(gpu.diagnostics) : null,
      gpu && table_of(gpu, "gpu")?.size ? window_bars(gpu) : el("p", { class: "empty muted" }, "This trace has no device events."),
      launch_figures(launches),
      launches ? series_card(launches, window_ns, context.t, "Queue depth") : null,
      memory ? series_card(memory, window_ns, context.t, "Memory") : null,
      longest
        ? table_card(
            longest.table,
            context.t,
            { sort: "-duration_ns", height: "380px", first: ["start_ns", "duration_ns", "cause", "op", "location"] },
            "Longest gaps",
          )
        : null,
      sources ? table_card(sources.table, context.t, { sort: "-time_ns", height: "380px" }, "Idle by host call") : null,
    ),
  };
}

function launch_figures(launches: Report | null): Child {
  const table = launches && table_of(launches, "launches");
  if (!table?.size) return null;
  return card(
    "Launching",
    ...table.table.rows.map((row) => el("div", {}, el("p", { class: "lead" }, format.prose(table.text(row, "verdict"))), launch_row(table, row))),
  );
}

const kLaunchFigures: [string, string][] = [
  ["host_ns_per_launch", "Host per launch"],
  ["device_ns_per_launch", "Device per launch"],
  ["latency_p50_ns", "Latency, median"],
  ["latency_p99_ns", "Latency, p99"],
];

// Without a launch nothing is known, and a depth of 0 would say that the queue was empty.
function launch_row(table: Rows, row: Cell[]): Child {
  if (table.number(row, "latency_p50_ns") === null) return null;
  const depth = table.number(row, "queue_depth_mean");
  return figures([
    ...kLaunchFigures.map(([column, name]): [string, string] => [name, format.time(table.number(row, column))]),
    ["Queue depth, mean", depth === null ? format.kUnknown : format.number(depth, null)],
  ]);
}
