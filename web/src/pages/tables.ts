// Kernels and Ops: one large table each, regrouped by the analysis's own `by` parameter; a click goes to the timeline.
import type { Table } from "../api/types";
import { el, fill } from "../ui/dom";
import { kernel_link } from "../ui/links";
import { diagnostics, page_head, table_view } from "../ui/report_view";
import { note } from "../ui/router";
import { publish, withdraw } from "../ui/shown";
import type { TableOptions } from "../ui/table";
import { asked, type Context, type Page } from "./page";

// "regroup: launch, op, shape, ... or stream" -> the words.
function choices(context: Context, analysis: string): string[] {
  const by = context.all.analyses.find((each) => each.name === analysis)?.parameters.find((each) => each.name === "by");
  if (!by) return [];
  const list = by.description.slice(by.description.indexOf(":") + 1).replace(/\([^)]*\)/g, "");
  return list
    .split(/,| or /)
    .map((word) => word.trim())
    .filter((word) => /^[a-z_]+$/.test(word));
}

async function table_page(
  context: Context,
  analysis: string,
  title: string,
  lead: string,
  options: (table: Table) => TableOptions,
): Promise<Page> {
  const body = el("div", {});
  const by_words = choices(context, analysis).filter((word) => context.source.has(analysis, asked(context, { by: word })));
  const chosen = by_words.includes(context.parameters.get("by") ?? "") ? context.parameters.get("by")! : "";
  let filter = context.parameters.get("filter") ?? "";
  let turn = 0;
  let shown: object | null = null;
  const show = async (by: string): Promise<void> => {
    const mine = ++turn;
    const report = await context.source.analysis(analysis, asked(context, by ? { by } : {}));
    if (mine !== turn) return; // another grouping was chosen meanwhile
    const table = report.tables[0]!;
    const view = table_view(table, context.t, {
      ...(by ? { sort: options(table).sort, link: options(table).link } : options(table)),
      filter,
      filterable: true,
      on_filter: (text) => {
        filter = text;
        note({ filter: text || null });
      },
    });
    fill(body, diagnostics(report.diagnostics), view.element);
    shown = publish({ table: view });
  };
  const select = el(
    "select",
    {
      class: "input",
      "aria-label": "Group by",
      on: {
        change: () => {
          note({ by: select.value || null });
          show(select.value).catch((error: Error) => fill(body, el("p", { class: "note error", role: "alert" }, error.message)));
        },
      },
    },
    el("option", { value: "" }, `by ${analysis === "ops" ? "op" : "kernel"}`),
    ...by_words.map((word) => el("option", { value: word, selected: word === chosen }, `by ${word}`)),
  );
  await show(chosen);
  return {
    element: el("div", { class: "page wide" }, page_head(title, lead, by_words.length ? select : null), body),
    close: () => {
      ++turn;
      withdraw(shown);
    },
  };
}

const kKernelColumns = [
  "label",
  "category",
  "count",
  "time_ns",
  "pct_gpu_time",
  "mean_ns",
  "bound",
  "pct_peak_flops",
  "pct_peak_bandwidth",
  "slowdown",
  "headroom_ns",
  "flops",
  "bytes_read",
  "bytes_written",
  "dtype",
  "op",
];

// Where a kernel's name leads: to its page, if that is at hand (a report has those of the largest kernels only).
export function kernel_door(context: Context): NonNullable<TableOptions["link"]> {
  return (_row, at) => {
    const name = String(at("kernel") ?? "");
    return context.source.has("kernel", asked(context, { name })) ? kernel_link(context.t, name) : null;
  };
}

export const kernels_page = (context: Context): Promise<Page> =>
  table_page(
    context,
    "kernels",
    "Kernels",
    "Where kernel time went, and how close each kernel is to its roof. Click a name for the kernel's page, a row for the timeline.",
    () => ({ only: kKernelColumns, sort: "-time_ns", link: kernel_door(context) }),
  );

export const ops_page = (context: Context): Promise<Page> =>
  table_page(context, "ops", "Ops", "What each op cost on the host and on the device. Click a row for the timeline.", (table) => ({
    first: ["op"],
    sort: table.rows.some((row) => Number(row[table.columns.findIndex((column) => column.name === "device_self_ns")] ?? 0) > 0)
      ? "-device_self_ns"
      : "-cpu_self_ns",
  }));
