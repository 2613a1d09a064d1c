// The findings of all ranks of a job, each once, with the ranks it holds for. They take a while where every trace has to be looked through: asked for when
// the rest of the page is there.
import type { Cell } from "../api/types";
import { button, el, fill, shorten } from "../ui/dom";
import * as format from "../ui/format";
import { card } from "../ui/report_view";
import { link } from "../ui/router";
import { rows_of, table_of, type Rows } from "../ui/rows";
import type { Context } from "./page";

const kUnasked = 16; // ranks: of more one asks by a button

export function findings_card(context: Context, ranks: number, trace_of: Map<number, number>): HTMLElement | null {
  const { source, all } = context;
  const takes = all.analyses.find(({ name }) => name === "ranks")?.parameters.some(({ name }) => name === "findings");
  const question = { findings: "true" };
  if (!takes || !source.has("ranks", question)) return null;
  const body = el("div", { class: "ranks-findings" });
  const show = async (): Promise<void> => {
    fill(body, el("p", { class: "muted", role: "status" }, "Looking through all ranks…"));
    try {
      const report = await source.analysis("ranks", question);
      const table = table_of(report, "findings");
      if (!table) fill(body, el("p", { class: "muted" }, "The digests were made without findings."));
      else if (!table.size) fill(body, el("p", { class: "muted" }, "Nothing stands out on any rank: no rule found time to save."));
      else fill(body, el("ol", { class: "findings" }, ...rows_of(table).map((row) => finding(table, row, ranks, trace_of, context))));
    } catch (error) {
      fill(body, el("p", { class: "muted", role: "alert" }, (error as Error).message));
    }
  };
  if (ranks <= kUnasked) void show();
  else fill(body, button(`Look through all ${format.count(ranks)} ranks`, () => void show(), { class: "btn small" }));
  return card("Findings over all ranks", body);
}

function finding(table: Rows, row: Cell[], ranks: number, trace_of: Map<number, number>, context: Context): HTMLElement {
  const saves = table.number(row, "saves_ns");
  const at_most = table.number(row, "at_most_ns");
  const holds = table.number(row, "holds_for") ?? 0;
  const first = Number(/\d+/.exec(table.text(row, "ranks"))?.[0] ?? NaN);
  const t = trace_of.get(first);
  const there = t !== undefined && context.all.traces[t] && context.all.traces[t].state !== "absent" && context.source.has("findings", { claim: table.text(row, "id"), t });
  const target = there ? link("timeline", { t: t || null, f: table.text(row, "id") }) : null;
  const title = shorten(format.prose(table.text(row, "finding")), 400);
  const who = holds === ranks ? `all ${format.count(holds)} ranks` : `${holds === 1 ? "rank" : `${format.count(holds)} ranks:`} ${shorten(table.text(row, "ranks"), 120)}`;
  return el(
    "li",
    { class: "finding", "data-finding": table.text(row, "id") },
    el(
      "div",
      { class: "finding-at-most" },
      saves === null ? el("b", { class: "muted" }, format.kUnknown) : el("b", { title: "of a step of such a rank, in the median" }, `− ${format.time(saves)}`),
      at_most === null ? null : el("small", { class: "muted" }, `at most ${format.time(at_most)}`),
    ),
    el(
      "div",
      { class: "finding-text" },
      el("h3", {}, target ? el("a", { href: target }, title) : title, el("span", { class: "tag" }, who)),
      table.text(row, "do") ? el("p", {}, el("b", {}, "Do: "), shorten(format.prose(table.text(row, "do")), 800)) : null,
    ),
    target ? el("a", { class: "btn small", href: target, "aria-label": `Show on the timeline of rank ${first}: ${title}` }, "Timeline →") : null,
  );
}
