// The shell: opens the source, shows the navigation and the page that the URL names, and keeps light and dark.
import { open_source } from "./api/open_source";
import { SourceError, type DataSource } from "./api/source";
import type { Traces } from "./api/types";
import type { Page } from "./pages/page";
import { pages_for, type PageRow } from "./pages/pages";
import { button, el, fill, shorten, svg } from "./ui/dom";
import { here, link } from "./ui/router";
import { apply_theme, next_theme, theme_name } from "./ui/theme_choice";

function failure(error: unknown): HTMLElement {
  const known = error instanceof SourceError;
  const message = known ? error.message : `This page failed: ${(error as Error)?.message ?? error}`;
  if (!known) console.error(error);
  return el(
    "div",
    { class: "page" },
    el("div", { class: "note error", role: "alert" }, el("b", {}, shorten(message, 600)), known && error.hint ? ` ${error.hint}` : null),
  );
}

class Shell {
  private readonly nav = el("nav", { class: "nav", "aria-label": "Pages" });
  private readonly main = el("main", { class: "main", id: "main", tabindex: "-1" });
  private readonly pages: PageRow[];
  private page: Page | null = null;
  private shown = "";
  private turn = 0;

  constructor(
    private readonly source: DataSource,
    private readonly all: Traces,
  ) {
    this.pages = pages_for(all, (path) => source.has(path) || source.has(path, { t: 0 }), source.fixed);
    fill(
      document.getElementById("app")!,
      el(
        "a",
        {
          class: "skip",
          href: "#main",
          on: {
            click: (event: Event) => {
              event.preventDefault();
              this.main.focus();
            },
          },
        },
        "Skip to content",
      ),
      el("div", { class: "shell" }, this.nav, this.main),
    );
    window.addEventListener("hashchange", () => void this.show());
    void this.show();
  }

  private async show(): Promise<void> {
    const { page: name, parameters } = here();
    const row = this.pages.find((each) => each.name === name) ?? this.pages[0]!;
    const t = this.trace_of(parameters);
    const key = `${row.name}/${t}`;
    const from_menu = this.nav.contains(document.activeElement);
    this.draw_nav(row.under ?? row.name, t);
    if (from_menu) this.nav.querySelector<HTMLElement>("[aria-current]")?.focus();
    const turn = ++this.turn;
    if (key === this.shown && this.page?.update) {
      await this.page.update(parameters);
      if (turn === this.turn) document.documentElement.dataset.ready = row.name;
      return;
    }
    this.page?.close?.();
    this.page = null;
    this.shown = key;
    document.title = `${row.title} · ${shorten(this.all.traces[t]?.name ?? "", 60)} · ridge`;
    const waiting = window.setTimeout(() => {
      if (turn === this.turn) fill(this.main, el("p", { class: "empty muted", role: "status" }, "Working…")); // else a later page is already there
    }, 150);
    let made: Page;
    try {
      made = await row.make({ source: this.source, all: this.all, t, trace: this.all.traces[t]!, parameters });
    } catch (error) {
      made = { element: failure(error) };
    }
    clearTimeout(waiting);
    if (turn !== this.turn) return made.close?.();
    this.page = made;
    const had_focus = this.main.contains(document.activeElement);
    fill(this.main, made.element);
    if (had_focus) this.main.focus({ preventScroll: true }); // the link that was followed is gone: reading goes on here
    this.main.classList.toggle("full", row.name === "timeline");
    this.main.dataset.page = row.name;
    this.main.scrollTop = 0;
    document.documentElement.dataset.ready = row.name;
  }

  private trace_of(parameters: URLSearchParams): number {
    const t = Number(parameters.get("t") ?? 0);
    return Number.isInteger(t) && t >= 0 && t < this.all.traces.length ? t : 0;
  }

  private draw_nav(current: string, t: number): void {
    const groups = [...new Set(this.pages.map((page) => page.group))];
    const choice =
      this.all.traces.length > 1
        ? el(
            "select",
            {
              class: "input trace-choice",
              "aria-label": "Trace",
              title: shorten(this.all.traces[t]?.name ?? "", 300),
              on: {
                change: (event: Event) => {
                  location.hash = link(current, { t: Number((event.target as HTMLSelectElement).value) || null });
                },
              },
            },
            ...this.all.traces.map((trace) => el("option", { value: trace.index, selected: trace.index === t }, shorten(trace.name, 60))),
          )
        : el(
            "div",
            { class: "trace-name", title: shorten(this.all.traces[0]?.name ?? "", 300) },
            shorten(this.all.traces[0]?.name ?? "", 80),
          );
    const toggle = button(
      theme_name(),
      () => {
        next_theme();
        toggle.textContent = theme_name();
      },
      { class: "btn small", "aria-label": "Light or dark" },
    );
    fill(
      this.nav,
      el("a", { class: "brand", href: link("summary", { t: t || null }) }, logo(), "ridge"),
      choice,
      ...groups.flatMap((group) => [
        el("div", { class: "nav-group" }, group),
        ...this.pages
          .filter((page) => page.group === group && !page.under)
          .map((page) =>
            el(
              "a",
              { class: "nav-item", href: link(page.name, { t: t || null }), "aria-current": page.name === current ? "page" : undefined },
              page.title,
            ),
          ),
      ]),
      el("span", { class: "grow" }),
      el("div", { class: "row nav-foot" }, toggle, el("small", { class: "muted" }, this.source.fixed ? "report · " : "", this.all.ridge)),
    );
  }
}

function logo(): SVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 20 20", width: "20", height: "20", "aria-hidden": "true" },
    svg("path", {
      d: "M2 16 8.5 6H18",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": "2.6",
      "stroke-linejoin": "round",
      "stroke-linecap": "round",
    }),
    svg("circle", { cx: "12", cy: "12", r: "1.7", fill: "currentColor" }),
  );
}

async function start(): Promise<void> {
  apply_theme();
  try {
    const source = open_source();
    const all = await source.traces();
    new Shell(source, all);
  } catch (error) {
    fill(document.getElementById("app")!, failure(error));
  }
}

void start();
