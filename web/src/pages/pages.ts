// The table of contents: which pages there are, in which order, and which analysis each needs. An analysis without a row here gets a
// page by itself under "More".
import type { Traces } from "../api/types";
import { any_page } from "./any";
import { categories_page } from "./categories";
import { compile_page } from "./compile";
import { diff_page } from "./diff";
import { everything_page } from "./everything";
import { gpu_page } from "./gpu";
import { graphs_page } from "./graphs";
import { health_page } from "./health";
import { job_diff_page } from "./job_diff";
import type { Make } from "./page";
import { kernel_page } from "./kernel";
import { ranks_page } from "./ranks";
import { roofline_page } from "./roofline";
import { sql_page } from "./sql";
import { summary_page } from "./summary";
import { kernels_page, ops_page } from "./tables";
import { timeline_page } from "./timeline";
import { whatif_page } from "./whatif";
import * as format from "../ui/format";

export interface PageRow {
  name: string; // in the URL
  title: string;
  group: string;
  needs: string | null; // an analysis
  make: Make;
  under?: string; // not in the menu: reached from the page of this name
  of_job?: boolean; // of all traces together, none of which has to be open
}

const kPages: PageRow[] = [
  { name: "summary", title: "Summary", group: "Overview", needs: "summary", make: summary_page },
  { name: "timeline", title: "Timeline", group: "Overview", needs: null, make: timeline_page },
  { name: "whatif", title: "Step and what-if", group: "Overview", needs: "whatif", make: whatif_page },
  { name: "kernels", title: "Kernels", group: "Device", needs: "kernels", make: kernels_page },
  { name: "kernel", title: "Kernel", group: "Device", needs: "kernel", make: kernel_page, under: "kernels" },
  { name: "roofline", title: "Roofline", group: "Device", needs: "roofline", make: roofline_page },
  { name: "categories", title: "Categories", group: "Device", needs: "categories", make: categories_page },
  { name: "gpu", title: "GPU and idle", group: "Device", needs: "gpu", make: gpu_page },
  { name: "ops", title: "Ops", group: "Program", needs: "ops", make: ops_page },
  { name: "graphs", title: "Graphs and breaks", group: "Program", needs: "graphs", make: graphs_page },
  { name: "compile", title: "Compile", group: "Program", needs: "compile", make: compile_page },
  { name: "ranks", title: "Ranks", group: "Compare", needs: "ranks", make: ranks_page, of_job: true },
  { name: "job_diff", title: "Before and after", group: "Compare", needs: null, make: job_diff_page, of_job: true },
  { name: "diff", title: "Diff", group: "Compare", needs: "diff", make: diff_page },
  { name: "sql", title: "SQL", group: "Trace", needs: "sql", make: sql_page },
  { name: "health", title: "Trace health", group: "Trace", needs: "check", make: health_page },
];

// Analyses that are part of a page above, or that need an argument which a page cannot guess.
const kShownElsewhere = new Set([
  ...kPages.map((page) => page.needs),
  "critical",
  "arrivals",
  "findings",
  "breaks",
  "info",
  "gaps",
  "launches",
  "devices",
]);

const kOfSeveral = new Set(["ranks", "diff"]); // pages that one trace has not

export function pages_for(all: Traces, has: (path: string) => boolean, fixed: boolean): PageRow[] {
  const known = new Set(all.analyses.map((each) => each.name));
  const digests = all.traces.length > 0 && all.traces.every(({ state }) => state === "absent");
  const offered = (page: PageRow): boolean => {
    if (digests && !page.of_job) return false;
    if (kOfSeveral.has(page.name) && (all.traces.length < 2 || !has(page.name))) return false;
    if (page.name === "job_diff" && (!all.before || !has(page.name))) return false;
    if (page.under) return known.has(page.needs ?? "");
    return page.needs === null || (known.has(page.needs) && has(page.needs));
  };
  const more = all.analyses
    .filter((each) => !digests && !kShownElsewhere.has(each.name) && has(each.name))
    .map((each): PageRow => ({
      name: each.name,
      title: format.heading(each.name),
      group: "More",
      needs: each.name,
      make: any_page(each.name),
    }));
  const shown = [...kPages.filter(offered), ...more];
  if (!fixed) return shown;
  const makers = shown.filter((page) => page.name !== "timeline" && !page.under).map((page) => page.make);
  const print: PageRow = { name: "everything", title: "All on one page", group: "Overview", needs: null, make: everything_page(makers) };
  return [...shown.slice(0, 2), print, ...shown.slice(2)];
}
