// An analysis without a page of its own: its report as it stands.
import { el } from "../ui/dom";
import * as format from "../ui/format";
import { any_report, page_head } from "../ui/report_view";
import { asked, type Context, type Page } from "./page";

export const any_page =
  (name: string) =>
  async (context: Context): Promise<Page> => {
    const info = context.all.analyses.find((each) => each.name === name);
    const report = await context.source.analysis(name, asked(context));
    return {
      element: el(
        "div",
        { class: "page" },
        page_head(format.heading(name), info?.description ?? null),
        ...any_report(report, context.trace.window_ns, context.t),
      ),
    };
  };
