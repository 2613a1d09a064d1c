// Every page but the timeline, one below the other: a report to print or to read through. Offered where the answers are all at hand.
import { el } from "../ui/dom";
import type { Context, Make, Page } from "./page";

export const everything_page =
  (makers: Make[]) =>
  async (context: Context): Promise<Page> => {
    const pages = await Promise.allSettled(makers.map((make) => make({ ...context, parameters: new URLSearchParams() })));
    const made = pages.flatMap((page) => (page.status === "fulfilled" ? [page.value.element] : []));
    return { element: el("div", { class: "everything" }, ...made) };
  };
