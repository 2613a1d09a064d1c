// A kernel alone: its source, the script that runs it, and what `ridge bench` measured of it, where these are at hand.
import type { Report, Table } from "../api/types";
import { SourceError } from "../api/source";
import { el, fill, type Child } from "../ui/dom";
import { card, diagnostics, table_card } from "../ui/report_view";
import { rows_of, table_of } from "../ui/rows";
import { copy_button } from "../ui/table_copy";
import { asked, type Context } from "./page";

// Text as it stands, with a button that copies it.
function code_block(text: string, title: string): HTMLElement {
  return el("div", { class: "code-block" }, copy_button(() => text, title), el("pre", { class: "code", tabindex: "0" }, text));
}

// The text that a table holds line by line.
export function source_card(report: Report): Child {
  const source = table_of(report, "source");
  if (!source?.size) return null;
  const text = rows_of(source)
    .map((row) => source.text(row, "text"))
    .join("\n");
  return card("Source", code_block(text, "Copy the source"));
}

// Made when it is opened: for most kernels nobody asks.
export function script_card(context: Context, name: string): Child {
  const parameters = asked(context, { kernel: name });
  if (!context.source.has("replay", parameters)) return null;
  const body = el("div", {}, el("p", { class: "muted" }, "…"));
  let opened = false;
  const load = async (): Promise<void> => {
    if (opened) return;
    opened = true;
    try {
      fill(body, ...script_parts(await context.source.analysis("replay", parameters), context.t));
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      fill(body, el("p", { class: "note", role: "alert" }, error.message, error.hint ? ` ${error.hint}` : ""));
    }
  };
  const details = el("details", { class: "kernel-script", on: { toggle: () => void load() } }, el("summary", {}, "A script that runs it with the inputs of the trace"), body);
  return card("Alone", details);
}

function script_parts(report: Report, t: number): Child[] {
  const calls = report.tables.find((table) => table.name === "replay");
  const scripts = table_of(report, "scripts");
  const script = scripts?.size ? rows_of(scripts)[0] : undefined;
  return [
    script && scripts ? code_block(scripts.text(script, "text"), "Copy the script") : null,
    script ? null : el("p", { class: "note" }, reason_of(calls) || "No script can be made."),
    calls && (calls.rows.length > 1 || !script) ? table_card(calls, t, { first: ["op", "shapes", "status", "reason"] }) : null,
  ];
}

function reason_of(calls: Table | undefined): string {
  const at = calls?.columns.findIndex((column) => column.name === "reason") ?? -1;
  return calls && at >= 0 ? String(calls.rows[0]?.[at] ?? "") : "";
}

// What was measured, where the page was opened with --bench.
export async function bench_cards(context: Context, name: string): Promise<Child[]> {
  const parameters = { kernel: name };
  if (!context.all.bench || !context.source.has("bench", parameters)) return [];
  const report = await context.source.analysis("bench", parameters);
  const tables = report.tables.filter((table) => table.rows.length);
  if (!tables.length) return [];
  // Kernels that are not in the trace are no matter of this one; another device is.
  const said = report.diagnostics.filter((each) => each.code === "bench_on_other_device");
  return [diagnostics(said), ...tables.map((table) => table_card(table, context.t, { first: ["status", "cold_ns", "warm_ns", "config"] }))];
}
