// What a step takes and would take: changes that are switched on and off, alone and together, and the critical path.
import type { Report } from "../api/types";
import { bars } from "../ui/charts";
import { button, el, fill, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { card, diagnostics, page_head, table_card } from "../ui/report_view";
import { note } from "../ui/router";
import { Rows, rows_of, table_of } from "../ui/rows";
import { asked, type Context, type Page } from "./page";

const kOffered = ["cuda-graphs", "no-sync", "no-breaks", "no-dataloader", "host=0.8x"];
const kKernelsOffered = 4;
const kLongestLabel = 100; // a question has room for so much
const kApart = "\n"; // between changes in the URL
const kColours = { recorded: "#7f8a99", without_profiler: "#56b4e9", changed: "#009e73" };

// "kernel:^label$=0.5x": the label as an expression for itself.
const faster = (kernel: string): string => `kernel:^${kernel.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$=0.5x`;

async function longest_kernels(context: Context): Promise<string[]> {
  const report = await context.source.analysis("kernels", asked(context)).catch(() => null);
  const table = report && table_of(report, "kernels");
  const labels = [...new Set(rows_of(table ?? null).map((row) => table!.text(row, "label")))];
  return labels
    .filter((label) => label && label.length <= kLongestLabel)
    .slice(0, kKernelsOffered)
    .map(faster);
}

function scenario(report: Report | null, name: string): { table: Rows; row: Rows["table"]["rows"][number] } | null {
  const table = report && table_of(report, "whatif");
  const row = table?.table.rows.find((each) => table.text(each, "scenario") === name);
  return table && row ? { table, row } : null;
}
function step_of(report: Report | null, name: string): number | null {
  const found = scenario(report, name);
  return found ? found.table.number(found.row, "step_ns") : null;
}

export async function whatif_page(context: Context): Promise<Page> {
  const base = asked(context);
  const [plain, critical, kernels] = await Promise.all([
    context.source.analysis("whatif", base),
    context.source.has("critical", base) ? context.source.analysis("critical", base).catch(() => null) : null,
    context.source.fixed ? [] : longest_kernels(context),
  ]);
  const near = critical && table_of(critical, "near");
  const path = critical && table_of(critical, "critical");
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("Step and what-if", lead(plain)),
      diagnostics(plain.diagnostics),
      context.source.fixed ? table_card(plain.tables[0]!, context.t, {}, "Steps") : await switches(context, plain, [...findings_of(plain), ...kOffered, ...kernels]),
      path?.size ? table_card(path.table, context.t, { height: "420px" }, "Critical path: what a step is made of") : null,
      near?.size ? table_card(near.table, context.t, {}, "Other paths at most 5 % shorter") : null,
    ),
  };
}

// What was found, as changes: their rows stand between the step without the profiler and "all".
function findings_of(report: Report): string[] {
  const table = table_of(report, "whatif");
  const names = rows_of(table ?? null).map((row) => table!.text(row, "scenario"));
  return names.slice(names.indexOf("without_profiler") + 1, names.indexOf("all")).map((id) => `finding:${id}`);
}

function lead(report: Report): string {
  const [recorded, without] = [step_of(report, "recorded"), step_of(report, "without_profiler")];
  if (recorded === null) return "The trace holds no step to replay.";
  const real = without === null ? "" : `, about ${format.time(without)} without the profiler`;
  return `A step takes ${format.time(recorded)} in the trace${real}.`;
}

// The changes as switches. What each saves alone is asked once for all; those that are on are asked together.
async function switches(context: Context, plain: Report, offered: string[]): Promise<Child> {
  const on = new Set((context.parameters.get("do") ?? "").split(kApart).filter(Boolean));
  const all = [...new Set([...offered, ...on])];
  const list = el("div", { class: "whatif-list" });
  const outcome = el("div", { "aria-live": "polite" });
  const told = el("p", { class: "note error", role: "alert", hidden: true });
  const ask = (changes: string[]): Promise<Report> => context.source.analysis("whatif", { ...asked(context), do: changes });
  let alone = await ask(all).catch(() => null);
  let turn = 0;

  const show = async (): Promise<void> => {
    const mine = ++turn;
    const chosen = all.filter((each) => on.has(each));
    note({ do: chosen.join(kApart) || null });
    const report = chosen.length ? await ask(chosen) : plain;
    if (mine !== turn) return; // another switch was used meanwhile
    const name = chosen.length > 1 ? "together" : (chosen[0] ?? "without_profiler");
    const after = step_of(report, name);
    const items = [
      ["in the trace", step_of(plain, "recorded"), kColours.recorded],
      ["without the profiler", step_of(plain, "without_profiler"), kColours.without_profiler],
      ...(chosen.length ? [["with the changes", after, kColours.changed]] : []),
    ] as [string, number | null, string][];
    const found = scenario(report, name);
    const saves = chosen.length && found ? found.table.number(found.row, "saves_pct") : null;
    const [low, high] = found ? [found.table.number(found.row, "low_pct"), found.table.number(found.row, "high_pct")] : [null, null];
    fill(
      outcome,
      bars(
        items.map(([label, value, colour]) => ({ label, value: value ?? 0, text: value === null ? format.kUnknown : format.time(value), colour })),
        "A step",
      ),
      saves === null
        ? null
        : el(
            "p",
            { class: "lead whatif-saves" },
            saves >= 0 ? `Saves ${format.percent(saves)}` : `Costs ${format.percent(-saves)}`,
            low !== null && high !== null ? ` (${format.percent(low)} to ${format.percent(high)})` : "",
          ),
      chosen.length && found ? el("p", { class: "muted" }, found.table.text(found.row, "basis")) : null,
    );
  };
  const shown = (): void => {
    show().catch((error: Error) => {
      told.hidden = false;
      fill(told, error.message);
    });
  };
  const draw = (): void => fill(list, ...all.map((change) => row_of(change, alone, on, shown)));
  const input = el("input", {
    class: "input whatif-input",
    placeholder: "kernel:REGEX=0.5x, op:REGEX=+50us, dtype=bf16, ...",
    "aria-label": "Another change",
    spellcheck: "false",
  });
  const add = async (): Promise<void> => {
    const change = input.value.trim();
    if (!change || all.includes(change)) return;
    told.hidden = true;
    try {
      alone = await ask([...all, change]);
    } catch (error) {
      told.hidden = false;
      fill(told, (error as Error).message);
      return;
    }
    all.push(change);
    on.add(change);
    input.value = "";
    draw();
    shown();
  };
  const form = el("form", { class: "whatif-form", on: { submit: (event: Event) => (event.preventDefault(), void add()) } }, input, button("Add", () => void add(), { class: "btn" }));
  draw();
  await show();
  return card("Changes", outcome, list, form, told);
}

function row_of(change: string, alone: Report | null, on: Set<string>, shown: () => void): Child {
  const found = scenario(alone, change);
  const saves = found ? found.table.number(found.row, "saves_pct") : null;
  const nothing = found !== null && found.table.text(found.row, "basis").startsWith("nothing ");
  const box = el("input", {
    type: "checkbox",
    on: {
      change: () => {
        if (box.checked) on.add(change);
        else on.delete(change);
        shown();
      },
    },
  });
  box.checked = on.has(change);
  box.disabled = nothing && !box.checked;
  return el(
    "label",
    { class: "whatif-row", title: found ? found.table.text(found.row, "basis") : "" },
    box,
    el("span", { class: "whatif-name" }, change),
    el("span", { class: "num muted" }, nothing ? "nothing to change" : saves === null ? format.kUnknown : `${saves >= 0 ? "saves" : "costs"} ${format.percent(Math.abs(saves))}`),
  );
}
