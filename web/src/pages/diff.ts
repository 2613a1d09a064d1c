// Traces compared, per iteration: the totals, a waterfall from the first to another (by category, by group, by cause of idle time), and the
// tables behind it. With more than two traces one chooses which to hold against the first.
import type { Cell, Report, Table } from "../api/types";
import { waterfall } from "../ui/charts";
import { button, el, fill, shorten } from "../ui/dom";
import * as format from "../ui/format";
import { event_link, events_of } from "../ui/links";
import { any_report, card, diagnostics, figures, page_head, table_card } from "../ui/report_view";
import { note } from "../ui/router";
import { rows_of, Rows, table_of } from "../ui/rows";
import type { TableOptions } from "../ui/table";
import type { Context, Page } from "./page";

const kSteps = 14;
const letter = (t: number): string => String.fromCharCode(97 + t);

// Where the steps of a waterfall come from: a table, and the column that names them.
const kWays: { title: string; table: string; key: string }[] = [
  { title: "By category", table: "waterfall", key: "category" },
  { title: "By group", table: "diff", key: "group" },
  { title: "Idle by cause", table: "idle", key: "cause" },
];

interface Steps {
  before: number;
  after: number;
  steps: { name: string; delta: number }[];
}

function steps_of(table: Rows, key: string, b: string): Steps {
  const sums = new Map<string, number>();
  let [before, after] = [0, 0];
  for (const row of table.table.rows) {
    const [time_a, time_b] = [table.number(row, "time_a_ns") ?? 0, table.number(row, `time_${b}_ns`) ?? 0];
    before += time_a;
    after += time_b;
    const name = table.text(row, key) || "unknown";
    sums.set(name, (sums.get(name) ?? 0) + time_b - time_a);
  }
  const all = [...sums]
    .map(([name, delta]) => ({ name, delta }))
    .filter((step) => step.delta !== 0)
    .sort((x, y) => Math.abs(y.delta) - Math.abs(x.delta));
  const rest = all.slice(kSteps);
  const steps = all.slice(0, kSteps).sort((x, y) => y.delta - x.delta);
  if (rest.length) steps.push({ name: `${rest.length} others`, delta: rest.reduce((sum, step) => sum + step.delta, 0) });
  return { before, after, steps };
}

const signed = (value: number): string => `${value > 0 ? "+" : ""}${format.percent(value)}`; // a minus comes by itself

function total_figures(report: Report, b: string): HTMLElement | null {
  const table = table_of(report, "totals");
  if (!table?.size) return null;
  return figures(
    table.table.rows.map((row: Cell[]): [string, string, string] => {
      const [before, after] = [table.number(row, "time_a_ns"), table.number(row, `time_${b}_ns`)];
      const change = before && after !== null ? `, ${signed((100 * (after - before)) / before)}` : "";
      return [format.heading(table.text(row, "metric")), format.time(after), `from ${format.time(before)}${change}`];
    }),
  );
}

// The times of a group are links to where it stands in each trace; the row as a whole leads to the first that has it.
function sides(table: Table): NonNullable<TableOptions["cell"]> {
  const events = new Map(events_of(table, 0).map(({ at, t }) => [`time_${letter(t)}_ns`, { at, t }]));
  return (column, value, row) => {
    const side = events.get(column.name);
    const event = side ? row[side.at] : null;
    if (!side || typeof event !== "number") return undefined;
    return el("a", { href: event_link(side.t, event), title: `Show in trace ${letter(side.t).toUpperCase()}` }, format.cell(value, column));
  };
}

export async function diff_page(context: Context): Promise<Page> {
  const report: Report = await context.source.analysis("diff", context.scope);
  const { traces } = context.all;
  const ways = kWays.filter((way) => rows_of(table_of(report, way.table)).length > 0);
  const box = el("div", {});
  const numbers = el("div", {});
  let way = ways[0];
  let other = Math.min(traces.length - 1, Math.max(1, Number(context.parameters.get("b") ?? 1) || 1));
  const show = (): void => {
    fill(numbers, total_figures(report, letter(other)));
    buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(ways[i] === way)));
    if (!way) return;
    const { before, after, steps } = steps_of(table_of(report, way.table)!, way.key, letter(other));
    fill(
      box,
      waterfall(
        { name: `A: ${traces[0]?.name ?? ""}`, value: before },
        steps,
        { name: `${letter(other).toUpperCase()}: ${traces[other]?.name ?? ""}`, value: after },
        (value) => format.time(value),
      ),
    );
  };
  const buttons = ways.map((each) =>
    button(
      each.title,
      () => {
        way = each;
        show();
      },
      { class: "btn small" },
    ),
  );
  const choice =
    traces.length > 2
      ? el(
          "select",
          {
            class: "input",
            "aria-label": "Compare the first trace with",
            on: {
              change: () => {
                other = Number(choice!.value);
                note({ b: other });
                show();
              },
            },
          },
          ...traces.slice(1).map((trace) => el("option", { value: trace.index, selected: trace.index === other }, shorten(trace.name, 60))),
        )
      : null;
  show();
  const groups = table_of(report, "diff");
  const first = [
    "group",
    "category",
    "match",
    "time_a_ns",
    "time_b_ns",
    "delta_ns",
    "delta_pct",
    "change",
    "count_a",
    "count_b",
  ];
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("Diff", `${traces.map((trace) => shorten(trace.name, 60)).join(" → ")}, per iteration`, choice),
      diagnostics(report.diagnostics),
      numbers,
      card("What changed", el("div", { class: "row" }, ...buttons), box),
      groups ? table_card(groups.table, 0, { ...(traces.length > 2 ? {} : { only: [...first, "phase", "note", "shape"], first }), cell: sides(groups.table) }, "Groups") : null,
      ...any_report({ ...report, diagnostics: [] }, context.trace.window_ns, 0, ["diff", "waterfall", "totals", "idle"]),
    ),
  };
}
