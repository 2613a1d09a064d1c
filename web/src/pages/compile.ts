// Time spent compiling, as a flame graph: width is time, a phase stands below the one that called it. A click makes a phase the whole width.
import type { Report } from "../api/types";
import { el, type Child } from "../ui/dom";
import { flame, type FlameTree } from "../ui/flame";
import * as format from "../ui/format";
import { any_report, card, page_head, table_card } from "../ui/report_view";
import { table_of } from "../ui/rows";
import { asked, type Context, type Page } from "./page";

// Rows come parents first with their depth.
function tree_of(report: Report): FlameTree | null {
  const table = table_of(report, "compile");
  if (!table?.size) return null;
  const root: FlameTree = { name: "all compilation", note: "", total: 0, self: 0, calls: 0, children: [] };
  const path: FlameTree[] = [root];
  for (const row of table.table.rows) {
    const depth = table.number(row, "depth") ?? 0;
    const node: FlameTree = {
      name: table.text(row, "phase"),
      note: table.text(row, "compile_id"),
      total: table.number(row, "total_ns") ?? 0,
      self: table.number(row, "self_ns") ?? 0,
      calls: table.number(row, "calls") ?? 0,
      children: [],
    };
    path.length = Math.min(path.length, depth + 1);
    path[path.length - 1]!.children.push(node);
    path.push(node);
  }
  root.total = root.children.reduce((sum, child) => sum + child.total, 0);
  return root;
}

export async function compile_page(context: Context): Promise<Page> {
  const report = await context.source.analysis("compile", asked(context));
  const root = tree_of(report);
  const table = report.tables[0];
  const body: Child[] = root
    ? [
        card("Phases", flame(root, "Compile phases")),
        table
          ? table_card(table, context.t, { first: ["phase", "total_ns", "self_ns", "calls", "compile_id"] }, "Phases as a table")
          : null,
        ...any_report(report, context.trace.window_ns, context.t, ["compile"]),
      ]
    : [el("p", { class: "empty muted" }, "Nothing was compiled inside the window.")];
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("Compile", root ? `${format.time(root.total)} of compilation inside the window.` : null),
      ...body,
    ),
  };
}
