// Trace health: what is wrong with the file and what was mended, and what the trace is.
import { el, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { any_report, card, diagnostics, page_head, table_card } from "../ui/report_view";
import { rows_of, table_of } from "../ui/rows";
import { asked, type Context, type Page } from "./page";

export async function health_page(context: Context): Promise<Page> {
  const [check, info] = await Promise.all([
    context.source.analysis("check", asked(context)),
    context.source.analysis("info", asked(context)).catch(() => null),
  ]);
  const problems = table_of(check, "check");
  const places = table_of(check, "places");
  const listed = new Set(rows_of(problems).map((row) => problems!.text(row, "problem"))); // said once is enough
  return {
    element: el(
      "div",
      { class: "page" },
      page_head("Trace health", "Damage, odd events, and what is in the trace. None of it stops an analysis."),
      card(
        "Problems",
        diagnostics(check.diagnostics.filter((each) => !listed.has(each.code))),
        problems?.size
          ? el(
              "ul",
              { class: "notes" },
              ...problems.table.rows.map((row) =>
                el(
                  "li",
                  { class: `note ${problems.text(row, "severity")}` },
                  el("b", {}, problems.text(row, "problem")),
                  ` × ${format.count(problems.number(row, "count") ?? 0)} `,
                  el("span", {}, format.prose(problems.text(row, "message"))),
                ),
              ),
            )
          : el("p", { class: "muted" }, "None: the file is complete and every event is valid."),
      ),
      places?.size ? table_card(places.table, context.t, {}, "Places (byte offset in the JSON)") : null,
      ...side_by_side(info ? any_report({ ...info, diagnostics: [] }, context.trace.window_ns, context.t) : []),
    ),
  };
}

// Lists of a few names and values share a row, tables only on a large screen.
function side_by_side(cards: Child[]): HTMLElement[] {
  const lists = cards.filter((each) => each instanceof Element && each.querySelector(".pairs"));
  const tables = cards.filter((each) => !lists.includes(each));
  return [el("div", { class: "columns" }, ...lists), el("div", { class: "columns tables" }, ...tables)];
}
