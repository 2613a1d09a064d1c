// Two recordings of a job, a step of one held against a step of the other: where the time went, which stragglers came and went, rank by rank and collective
// by collective. The traces that a row opens are those of the later recording.
import type { Cell, Report, Traces } from "../api/types";
import { waterfall } from "../ui/charts";
import { el, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { card, diagnostics, figures, page_head, table_card } from "../ui/report_view";
import { link } from "../ui/router";
import { rows_of, table_of, type Rows } from "../ui/rows";
import type { Context, Page } from "./page";
import { traces_of_ranks } from "../timeline/job_clock";

export async function job_diff_page(context: Context): Promise<Page> {
  const [report, job] = await Promise.all([context.source.analysis("job_diff"), context.source.analysis("ranks")]);
  const traces = traces_of_ranks(job);
  const before = shorten(context.all.before ?? "before", 60);
  const [ranks, collectives] = [table_of(report, "ranks"), table_of(report, "collectives")];
  const to_rank = (row: Cell[]): string | null => rank_link(traces.get(ranks!.number(row, "rank") ?? -1), context.all.traces);
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("Before and after", `A: ${before} → B: this job, a step of the mean rank`),
      diagnostics(report.diagnostics),
      part_figures(report),
      waterfall_card(report),
      straggler_card(report),
      ranks ? table_card(ranks.table, 0, { open: to_rank, label: "Ranks" }, "Rank by rank") : null,
      collectives ? table_card(collectives.table, 0, { open: () => null }, "Collectives, a step") : null,
    ),
  };
}

const rank_link = (t: number | undefined, traces: Traces["traces"]): string | null =>
  t === undefined || traces[t]?.state === "absent" ? null : link("timeline", { t: t || null });

const signed = (value: number): string => `${value > 0 ? "+" : ""}${format.percent(value)}`; // a minus comes by itself

const kFigures: Record<string, string> = {
  step: "Step",
  compute: "Computing",
  wait: "Waiting for other ranks",
  transfer: "Transfer",
  exposed: "Communication not hidden",
  bubble: "Pipeline bubbles",
};

function part_figures(report: Report): HTMLElement | null {
  const table = table_of(report, "changes");
  if (!table?.size) return null;
  const items: [string, string, string][] = [];
  for (const row of rows_of(table)) {
    const [part, a, b, change] = [table.text(row, "part"), table.number(row, "time_a_ns"), table.number(row, "time_b_ns"), table.number(row, "delta_pct")];
    if (part === "bubble" && !a && !b) continue;
    items.push([kFigures[part] ?? format.heading(part), format.time(b), `from ${format.time(a)}${change === null ? "" : `, ${signed(change)}`}`]);
  }
  return figures(items);
}

// What held the device up, in the field's words.
const kParts: Record<string, string> = {
  compute: "computing",
  collective: "held up by collectives",
  launch: "held up by the host: launches",
  loader: "held up by the data loader",
  sync: "held up by synchronisation",
  other: "held up by other work",
  rest: "before the first and after the last kernel",
};

function waterfall_card(report: Report): HTMLElement | null {
  const table = table_of(report, "waterfall");
  if (!table?.size) return null;
  const sum = (column: string): number => rows_of(table).reduce((all, row) => all + (table.number(row, column) ?? 0), 0);
  const steps = rows_of(table)
    .map((row) => ({ name: kParts[table.text(row, "part")] ?? table.text(row, "part"), delta: table.number(row, "delta_ns") ?? 0 }))
    .filter(({ delta }) => delta !== 0);
  const drawn = waterfall({ name: "A: a step before", value: sum("time_a_ns") }, steps, { name: "B: a step after", value: sum("time_b_ns") }, (value) => format.time(value));
  return card("What changed in a step", drawn);
}

const kStates = { gone: "gone", new: "new", still: "still there" };

function straggler_card(report: Report): HTMLElement {
  const table = table_of(report, "stragglers");
  if (!table?.size) return card("Stragglers", el("p", { class: "muted" }, "None, neither before nor after: no rank and no link costs a step 2 % or more."));
  return card("Stragglers", el("ol", { class: "findings stragglers" }, ...rows_of(table).map((row) => straggler(table, row))));
}

function straggler(table: Rows, row: Cell[]): HTMLElement {
  const [rank, cause] = [table.number(row, "rank"), table.text(row, "cause")];
  const [a, b] = [table.number(row, "costs_a_ns"), table.number(row, "costs_b_ns")];
  const state = a === null ? "new" : b === null ? "gone" : "still";
  const group = (table.text(row, "group").match(/\d+/g) ?? []).slice(0, 12).join(", ");
  const cost = (ns: number | null): Child => (ns === null ? "under 2 %" : format.time(ns)); // less is not reported
  return el(
    "li",
    { class: "finding straggler", "data-rank": rank ?? undefined, "data-cause": cause, "data-state": state },
    el("div", { class: "finding-at-most" }, el("b", { title: "what a step loses by it now, by replay" }, cost(b)), el("small", { class: "muted" }, "of a step now")),
    el(
      "div",
      { class: "finding-text" },
      el("h3", {}, rank === null ? `Link of ranks ${group}` : `Rank ${rank}`, el("span", { class: "tag" }, cause), el("span", { class: "tag" }, kStates[state])),
      el("p", { class: "muted" }, "cost ", cost(a), " of a step before, costs ", cost(b), " after"),
    ),
  );
}
