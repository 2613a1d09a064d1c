// Device time by sort of work, as bars; a category opens the kernels in it.
import { bars } from "../ui/charts";
import { button, el } from "../ui/dom";
import * as format from "../ui/format";
import { name_link } from "../ui/links";
import { colour_of } from "../ui/palette";
import { card, diagnostics, page_head } from "../ui/report_view";
import { rows_of, table_of } from "../ui/rows";
import { asked, type Context, type Page } from "./page";
import { kernel_door } from "./tables";

const kKernelsShown = 12;

export async function categories_page(context: Context): Promise<Page> {
  const report = await context.source.analysis("categories", asked(context));
  const door = kernel_door(context);
  const table = table_of(report, "categories");
  const kernels = table_of(report, "category_kernels");
  const most = Math.max(1, ...rows_of(table).map((row) => table!.number(row, "time_ns") ?? 0));
  const parts = rows_of(table).map((row) => {
    const name = table!.text(row, "category");
    const time = table!.number(row, "time_ns") ?? 0;
    const inside = rows_of(kernels).filter((each) => kernels!.value(each, "category") === name);
    const list = el(
      "div",
      { class: "category-kernels", hidden: true },
      bars(
        inside.slice(0, kKernelsShown).map((each) => ({
          label: kernels!.text(each, "kernel"),
          value: kernels!.number(each, "time_ns") ?? 0,
          text: format.time(kernels!.number(each, "time_ns")),
          note: `× ${format.count(kernels!.number(each, "launches") ?? 0)}`,
          colour: colour_of(name),
          href: door(each, (column) => kernels!.value(each, column)) ?? name_link(context.t, kernels!.text(each, "kernel")),
        })),
        `Kernels of ${name}`,
      ),
      inside.length > kKernelsShown ? el("p", { class: "muted" }, `and ${format.count(inside.length - kKernelsShown)} more kernels`) : null,
    );
    const head = button(
      el(
        "span",
        { class: "category-row" },
        el("span", { class: "category-name" }, el("i", { style: { background: colour_of(name) } }), name),
        el("span", { class: "bars-track tall" }, el("i", { style: { width: `${(100 * time) / most}%`, background: colour_of(name) } })),
        el("span", { class: "num" }, format.time(time)),
        el("span", { class: "num" }, format.percent(table!.number(row, "pct_gpu_time"))),
        el("span", { class: "num muted" }, format.plural(table!.number(row, "kernels") ?? 0, "kernel", "kernels")),
        el("span", { class: "num muted" }, format.plural(table!.number(row, "launches") ?? 0, "launch", "launches")),
      ),
      () => {
        list.hidden = !list.hidden;
        head.setAttribute("aria-expanded", String(!list.hidden));
      },
      { class: "category", "aria-expanded": "false" },
    );
    return el("div", {}, head, list);
  });
  const total = table?.table.total;
  const whole = total ? table!.number(total, "time_ns") : null;
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("Categories", !whole ? null : `${format.time(whole)} of device time by kind of work. Click a row for its kernels.`),
      diagnostics(report.diagnostics),
      parts.length ? card("", ...parts) : el("p", { class: "empty muted" }, "This trace has no device events."),
    ),
  };
}
