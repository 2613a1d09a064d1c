// Time spent compiling, as a flame graph: width is time, a phase stands below the one that called it. A click makes a phase the whole width.
import type { Report } from "../api/types";
import { button, el, fill, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { hash } from "../ui/palette";
import { any_report, card, page_head, table_card } from "../ui/report_view";
import { table_of } from "../ui/rows";
import { asked, type Context, type Page } from "./page";

interface Node {
  name: string;
  compile: string;
  total: number;
  self: number;
  calls: number;
  children: Node[];
}

// Rows come parents first with their depth.
function tree_of(report: Report): Node | null {
  const table = table_of(report, "compile");
  if (!table?.size) return null;
  const root: Node = { name: "all compilation", compile: "", total: 0, self: 0, calls: 0, children: [] };
  const path: Node[] = [root];
  for (const row of table.table.rows) {
    const depth = table.number(row, "depth") ?? 0;
    const node: Node = {
      name: table.text(row, "phase"),
      compile: table.text(row, "compile_id"),
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

const kLeast = 0.15; // % of the width: narrower phases are not drawn
const kRowHeight = 22;

function flame(root: Node): HTMLElement {
  const box = el("div", { class: "flame", role: "tree", "aria-label": "Compile phases" });
  const trail = el("div", { class: "row muted" });
  const show = (top: Node, above: Node[]): void => {
    const parts: HTMLElement[] = [];
    let deepest = 0;
    const draw = (node: Node, left: number, width: number, depth: number): void => {
      deepest = Math.max(deepest, depth);
      const title = `${node.name}${node.compile ? ` [${node.compile}]` : ""}\n${format.time(node.total)} total, ${format.time(node.self)} self, ${format.count(node.calls)} calls`;
      parts.push(
        button(width > 3 ? shorten(node.name, 120) : "", () => show(node, node === top ? above : [...above, top]), {
          class: "flame-cell",
          role: "treeitem",
          title,
          "aria-label": title,
          "aria-level": depth + 1,
          style: {
            left: `${left}%`,
            width: `calc(${width}% - 1px)`,
            top: `${depth * kRowHeight}px`,
            background: `hsl(${20 + (hash(node.name) % 40)} 80% ${62 + (hash(node.name) % 4) * 4}%)`,
          },
        }),
      );
      let x = left;
      const inside = Math.max(
        node.total,
        node.children.reduce((sum, child) => sum + child.total, 0),
      );
      for (const child of [...node.children].sort((a, b) => b.total - a.total)) {
        const part = inside > 0 ? (width * child.total) / inside : 0;
        if (part >= kLeast) draw(child, x, part, depth + 1);
        x += part;
      }
    };
    draw(top, 0, 100, 0);
    fill(box, ...parts);
    box.style.setProperty("height", `${(deepest + 1) * kRowHeight}px`);
    fill(
      trail,
      ...above.flatMap((node, i) => [
        button(shorten(node.name, 60), () => show(node, above.slice(0, i)), { class: "link" }),
        el("span", {}, "›"),
      ]),
      el("b", {}, shorten(top.name, 80)),
      ` ${format.time(top.total)} (${format.percent((100 * top.total) / Math.max(1, root.total))})`,
    );
  };
  show(root, []);
  return el("div", {}, trail, box);
}

export async function compile_page(context: Context): Promise<Page> {
  const report = await context.source.analysis("compile", asked(context));
  const root = tree_of(report);
  const table = report.tables[0];
  const body: Child[] = root
    ? [
        card("Phases", flame(root)),
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
