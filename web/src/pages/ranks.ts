// The ranks of a job: which one the others wait for, why and what it costs; ranks by steps; collectives and groups.
import type { Cell, Report, Traces } from "../api/types";
import { el, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { card, diagnostics, figures, page_head, table_card } from "../ui/report_view";
import { link } from "../ui/router";
import { rows_of, table_of, type Rows } from "../ui/rows";
import { publish, withdraw } from "../ui/shown";
import type { Context, Page } from "./page";
import { traces_of_ranks } from "../timeline/job_clock";
import { findings_card } from "./ranks_findings";
import { RanksMap, step_grid, step_link, type StepGrid } from "./ranks_map";

const kBeside = 3; // ranks that a straggler is shown with

export async function ranks_page(context: Context): Promise<Page> {
  const report = await context.source.analysis("ranks");
  const ranks = table_of(report, "ranks")!;
  const stragglers = table_of(report, "stragglers");
  const grid = step_grid(report);
  const traces = traces_of_ranks(report);
  const slow = new Set(rows_of(stragglers).map((row) => stragglers!.number(row, "rank") ?? -1));
  const { parameters } = context;
  const map = grid && new RanksMap(grid, traces, context.all.traces, slow, { measure: parameters.get("show"), ranks: parameters.get("rows") });
  const shown = map && publish({ heat: map.map, grid });
  const tables = ["collectives", "groups", "messages"].map((name) => table_of(report, name)).filter((table) => table !== null);
  const job = table_of(report, "job");
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("Ranks", lead(ranks, job), context.all.before && context.source.has("job_diff") ? el("a", { class: "btn small", href: link("job_diff") }, "Before and after →") : null),
      diagnostics(report.diagnostics.filter(({ code }) => code !== "no_stragglers")),
      job ? job_figures(job) : null,
      straggler_card(report, ranks, traces, grid, context),
      map ? card("Ranks by steps", map.element) : null,
      findings_card(context, ranks.size, traces),
      table_card(ranks.table, 0, { open: (row) => rank_link(traces.get(ranks.number(row, "rank") ?? -1), context.all.traces), only: kRankColumns, first: kRankColumns, label: "Ranks" }, "Ranks"),
      ...tables.map((table) => table_card(table.table, 0, { open: () => null, ...(kColumns[table.table.name] ? { only: kColumns[table.table.name]!, first: kColumns[table.table.name]! } : {}) }, kTitles[table.table.name])),
    ),
    close: () => {
      map?.close();
      withdraw(shown);
    },
  };
}

const kTitles: Record<string, string> = { collectives: "Collectives", groups: "Groups", messages: "Transfers by size of message" };
const kRankColumns = ["rank", "step_ns", "late_ns", "wait_ns", "transfer_ns", "compute_ns", "busy_ns", "bubble_ns", "offset_ns", "offset_error_ns", "host", "file"];
const kColumns: Record<string, string[]> = {
  collectives: ["name", "group", "role", "ranks", "count", "bytes", "wait_ns", "transfer_ns", "exposed_ns", "busbw", "pct_peak_link", "link"],
  groups: ["group", "role", "ranks", "given", "collectives", "wait_ns", "transfer_ns", "link", "members", "description"],
};

const rank_link = (t: number | undefined, traces: Traces["traces"]): string | null =>
  t === undefined || traces[t]?.state === "absent" ? null : link("timeline", { t: t || null });

function lead(ranks: Rows, job: Rows | null): string {
  const row = job?.table.rows[0];
  const number = (column: string): number | null => (row ? job!.number(row, column) : null);
  const [world, missing, hosts] = [number("world_size"), number("missing"), number("hosts")];
  return [
    world === null ? format.plural(ranks.size, "rank", "ranks") : `${format.count(ranks.size)} of ${format.plural(world, "rank", "ranks")}`,
    missing ? `${format.count(missing)} missing` : "",
    hosts === null ? "" : format.plural(hosts, "host", "hosts"),
  ]
    .filter(Boolean)
    .join(" · ");
}

const kFigures: [string, string, "ns" | "percent", string][] = [
  ["step_ns", "Step, median rank", "ns", ""],
  ["step_if_median_ns", "Step if all were like the median", "ns", "by replay"],
  ["wait_pct", "Waiting for other ranks", "percent", "of the steps, in collectives"],
  ["transfer_pct", "Transfer", "percent", "of the steps, in collectives"],
  ["exposed_pct", "Communication not hidden", "percent", "of the steps: no other work of the device covers it"],
  ["bubble_pct", "Pipeline bubbles", "percent", "of the steps"],
];

function job_figures(job: Rows): HTMLElement | null {
  const row = job.table.rows[0];
  if (!row) return null;
  const items: [string, string, string][] = [];
  for (const [column, name, unit, note] of kFigures) {
    const value = job.number(row, column);
    if (value !== null && (column !== "bubble_pct" || value > 0)) items.push([name, format.number(value, unit), note]);
  }
  return items.length ? figures(items) : null;
}

// In the field's words.
const kCauses: Record<string, string> = {
  device: "slow device: the same kernels take longer",
  host: "slow host: launches come late",
  data: "data loading: it waits longer for its batches",
  imbalance: "imbalance: it has more work than the others",
  link: "slow link: transfers of these ranks take longer",
};

function straggler_card(report: Report, ranks: Rows, traces: Map<number, number>, grid: StepGrid | null, context: Context): HTMLElement {
  const table = table_of(report, "stragglers");
  if (table?.size) {
    return card("Stragglers", el("ol", { class: "findings stragglers" }, ...table.table.rows.map((row) => straggler(table, row, ranks, traces, grid, context))));
  }
  const none = report.diagnostics.find(({ code }) => code === "no_stragglers");
  const text = none ? "None: no rank and no link costs the step 2 % or more." : "It cannot be told: the traces have too few collectives in common.";
  return card("Stragglers", el("p", { class: "muted" }, text));
}

function straggler(table: Rows, row: Cell[], ranks: Rows, trace_of: Map<number, number>, grid: StepGrid | null, context: Context): HTMLElement {
  const rank = table.number(row, "rank");
  const group = (table.text(row, "group").match(/\d+/g) ?? []).map(Number);
  const cause = table.text(row, "cause");
  const who = rank !== null ? `Rank ${rank}` : `Link of ranks ${group.slice(0, 12).join(", ")}${group.length > 12 ? ", …" : ""}`;
  const costs = table.number(row, "costs_ns");
  return el(
    "li",
    { class: "finding straggler", "data-rank": rank ?? undefined, "data-cause": cause },
    el(
      "div",
      { class: "finding-at-most" },
      costs === null ? el("b", { class: "muted" }, format.kUnknown) : el("b", { title: "what a step would lose without it, by replay" }, `− ${format.time(costs)}`),
      el("small", { class: "muted" }, `${format.percent(table.number(row, "costs_pct"))} of the step`),
    ),
    el(
      "div",
      { class: "finding-text" },
      el("h3", {}, who, el("span", { class: "tag" }, cause)),
      el("p", {}, kCauses[cause] ?? cause),
      el("p", { class: "muted" }, shorten(format.prose(table.text(row, "evidence")), 800)),
    ),
    el("div", { class: "straggler-links" }, ...places(rank, group, ranks, trace_of, grid, context)),
  );
}

// Its slowest step alone, and beside other ranks on one clock.
function places(rank: number | null, group: number[], ranks: Rows, trace_of: Map<number, number>, grid: StepGrid | null, context: Context): Child[] {
  const { traces } = context.all;
  const chosen = rank ?? group[0];
  const t = chosen === undefined ? undefined : trace_of.get(chosen);
  if (t === undefined || !traces[t] || traces[t].state === "absent" || !context.source.has("tracks", { t })) return [];
  const step = grid && worst_step(grid, chosen!);
  const alone = step === null ? link("timeline", { t: t || null }) : step_link(traces, t, step);
  const near = (group.length ? group : rows_of(ranks).map((each) => ranks.number(each, "rank")!)).filter((each) => each !== chosen && trace_of.has(each));
  const beside = near.sort((a, b) => Math.abs(a - chosen!) - Math.abs(b - chosen!)).slice(0, kBeside);
  const stack = beside.length ? link("timeline", { t: t || null, ranks: [chosen!, ...beside].join("."), step: step === null ? null : step }) : null;
  return [
    alone && rank !== null ? el("a", { class: "btn small", href: alone, "aria-label": `Timeline of rank ${rank}` }, "Timeline →") : null,
    stack ? el("a", { class: "btn small", href: stack, title: `Ranks ${[chosen, ...beside].join(", ")} on one clock` }, "Beside others →") : null,
  ];
}

function worst_step({ ranks, steps, share }: StepGrid, rank: number): number | null {
  const row = ranks.indexOf(rank);
  let [worst, most] = [null as number | null, -1];
  if (row < 0) return null;
  steps.forEach((step, i) => {
    const value = share.late![row * steps.length + i]!;
    if (value > most) [worst, most] = [step, value];
  });
  return worst;
}
