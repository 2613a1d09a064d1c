// Compiled code: how much of the device's time is inside it, each graph, graph breaks and the tree of regions they cut.
import type { Cell, Report } from "../api/types";
import { stacked } from "../ui/charts";
import { el, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { name_link, prefix_link } from "../ui/links";
import { step_colour } from "../ui/palette";
import { any_report, card, diagnostics, page_head, table_card } from "../ui/report_view";
import { rows_of, table_of, type Rows } from "../ui/rows";
import type { TableOptions } from "../ui/table";
import { asked, type Context, type Page } from "./page";
import { missing_of } from "./summary";

const kMostRegions = 500;

export async function graphs_page(context: Context): Promise<Page> {
  const ask = (name: string): Promise<Report | null> => context.source.analysis(name, asked(context)).catch(() => null);
  const [graphs, breaks, summary] = await Promise.all([ask("graphs"), ask("breaks"), ask("summary")]);
  const blind = summary ? missing_of(summary).includes("ops") : false;
  const shown = breaks && table_of(breaks, "breaks");
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("Graphs and breaks", "What torch.compile compiled, and where it broke the graph."),
      graphs ? diagnostics(graphs.diagnostics) : null,
      graphs ? coverage(graphs) : null,
      breaks ? diagnostics(breaks.diagnostics) : null,
      shown?.size
        ? table_card(shown.table, context.t, { first: ["location", "reason"], sort: "-gpu_idle_ns", open: resumed(context) }, "Graph breaks")
        : card("Graph breaks", el("p", { class: "muted" }, blind ? "Unknown: breaks show on the host, and this trace has no host events." : "None in this trace.")),
      breaks ? region_tree(breaks, context) : null,
      ...(breaks
        ? any_report({ ...breaks, diagnostics: [] }, context.trace.window_ns, context.t, ["breaks", "regions"]).filter(
            (each) => !(each instanceof HTMLElement && each.classList.contains("empty")),
          )
        : []),
      ...(graphs
        ? graphs.tables
            .filter((table) => !["coverage", "graph_categories"].includes(table.name))
            .map((table) => table_card(table, context.t, { height: "340px" }))
        : []),
    ),
  };
}

// A break ends where the region that resumes its frame begins.
const resumed =
  (context: Context): TableOptions["open"] =>
  (_row, at) =>
    prefix_link(context.t, `Torch-Compiled Region: ${at("frame")}/`);

function coverage(graphs: Report): Child {
  const table = table_of(graphs, "coverage");
  if (!table?.size) return null;
  const total = table.table.total ? (table.number(table.table.total, "gpu_ns") ?? 0) : 0;
  if (!total) return null;
  const parts = rows_of(table).map((row, i) => ({
    name: table.text(row, "part").replaceAll("_", " "),
    value: table.number(row, "gpu_ns") ?? 0,
    colour: step_colour(table.text(row, "part"), i),
  }));
  return card(
    "Device time inside and outside compiled code",
    stacked(parts, total, (value) => format.time(value)),
  );
}

// Regions as a tree, each with its line of Python and a bar of its host time.
function region_tree(breaks: Report, context: Context): Child {
  const table = table_of(breaks, "regions");
  if (!table?.size) return null;
  const most = rows_of(table).reduce((high, row) => Math.max(high, table.number(row, "cpu_ns") ?? 0), 1);
  const bare = !rows_of(table).some((row) => table.text(row, "location"));
  return card(
    "Region tree",
    el("p", { class: "lead" }, "Frame/compile and its calls; an indented row resumes the one above it after a graph break. Click a row for the timeline."),
    el(
      "div",
      { class: `tree${bare ? " bare" : ""}`, role: "tree", "aria-label": "Compiled regions" },
      ...ordered(table)
        .slice(0, kMostRegions)
        .map(({ row, depth }) => {
          const id = table.text(row, "id") || `${table.text(row, "frame")}/${table.text(row, "compile")}`;
          const cpu = table.number(row, "cpu_ns") ?? 0;
          return el(
            "a",
            { class: "tree-row", role: "treeitem", "aria-level": depth + 1, href: name_link(context.t, `Torch-Compiled Region: ${id}`) },
            el(
              "span",
              { class: "tree-name", style: { "padding-left": `${depth * 18}px` } },
              depth ? el("span", { class: "muted" }, "└ ") : null,
              el("b", {}, id),
              " ",
              el("span", { class: "code muted" }, shorten(table.text(row, "location"), 200)),
            ),
            el("span", { class: "num muted" }, `× ${format.count(table.number(row, "calls") ?? 0)}`),
            el(
              "span",
              { class: "bars-track" },
              el("i", { style: { width: `${(100 * cpu) / most}%`, background: step_colour("", depth) } }),
            ),
            el("span", { class: "num" }, `host ${format.time(cpu)}`),
            el("span", { class: "num" }, `device ${format.time(table.number(row, "gpu_ns"))}`),
          );
        }),
    ),
    table.size > kMostRegions ? el("p", { class: "muted" }, `The first ${kMostRegions} of ${format.count(table.size)} regions.`) : null,
  );
}

// Parents before their children, whatever the order of the rows.
function ordered(table: Rows): { row: Cell[]; depth: number }[] {
  const children = new Map<string, Cell[][]>();
  const ids = new Set(rows_of(table).map((row) => table.text(row, "id")));
  for (const row of rows_of(table)) {
    const parent = table.text(row, "parent");
    const key = ids.has(parent) ? parent : "";
    const list = children.get(key);
    if (list) list.push(row);
    else children.set(key, [row]);
  }
  const list: { row: Cell[]; depth: number }[] = [];
  const stack = (children.get("") ?? []).map((row) => ({ row, depth: 0 })).reverse();
  while (stack.length && list.length <= table.size) {
    const next = stack.pop()!;
    list.push(next);
    const below = children.get(table.text(next.row, "id")) ?? [];
    for (let i = below.length - 1; i >= 0; --i) stack.push({ row: below[i]!, depth: next.depth + 1 });
  }
  return list;
}
