// The shell: opens the source, shows the navigation and the page that the URL names, and keeps light and dark.
import { open_source } from "./api/open_source";
import { open_trace } from "./api/open_trace";
import { SourceError, type DataSource } from "./api/source";
import type { Traces } from "./api/types";
import type { Page } from "./pages/page";
import { pages_for, type PageRow } from "./pages/pages";
import { alignment_of, origin_of } from "./timeline/alignment";
import { load_clock, may_have_clock, open_ranks } from "./timeline/job_clock";
import { button, el, fill, shorten, shorten_middle, svg } from "./ui/dom";
import { go, here, link, note } from "./ui/router";
import { effective, range_of, scope_key, scope_of, scope_query, scope_text, whole, type Scope } from "./ui/scope";
import { scope_picker } from "./ui/scope_picker";
import { short_names } from "./ui/trace_names";
import { apply_theme, next_theme, theme_name } from "./ui/theme_choice";

const kTraceName = 16; // characters that the menu has room for

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
  private readonly lost = el("div", { class: "lost", role: "alert", hidden: true });
  private turn = 0;
  private scope: Scope = {};
  private failed = false; // the page that is shown is an error

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
      this.lost,
      el("div", { class: "shell" }, this.nav, this.main),
    );
    source.watch((there) => this.is_there(there));
    window.addEventListener("hashchange", () => void this.show());
    void this.show();
  }

  // What is shown stays; what is asked for meanwhile fails, and is asked for again once the server is there.
  private is_there(there: boolean): void {
    this.lost.hidden = there;
    fill(this.lost, there ? null : "The server does not answer. Is `ridge serve` still running? This page shows what it has already loaded.");
    if (!there || !this.failed) return;
    this.shown = "";
    void this.show();
  }

  private async show(): Promise<void> {
    const { page: name } = here();
    let { parameters } = here();
    const first = this.all.traces.some(({ state }) => state === "closed") ? this.pages.find((each) => each.of_job) : undefined; // to read none of them unasked
    const row = this.pages.find((each) => each.name === name) ?? first ?? this.pages[0]!;
    const t = this.trace_of(parameters);
    const scope = this.source.fixed ? {} : scope_of(parameters);
    const is_timeline = row.name === "timeline";
    const turn = ++this.turn;
    if (!(await this.open_traces(row, t, parameters, turn))) return;
    const key = `${row.name}/${t}/${is_timeline ? ["with", "at", "ranks"].map((each) => parameters.get(each)).join("/") : scope_key(scope)}`;
    if (is_timeline && this.look_at(scope, t, key === this.shown)) ({ parameters } = here());
    this.scope = scope;
    const from_menu = this.nav.contains(document.activeElement);
    this.draw_nav(row.under ?? row.name, t, scope);
    if (from_menu) [...this.nav.querySelectorAll<HTMLElement>("[aria-current], .menu")].find((each) => each.checkVisibility())?.focus();
    if (key === this.shown && this.page?.update) {
      await this.page.update(parameters, scope_query(scope, this.given));
      if (turn === this.turn) document.documentElement.dataset.ready = row.name;
      return;
    }
    this.page?.close?.();
    this.page = null;
    this.shown = key;
    document.title = `${shorten_middle(this.all.traces[t]?.name ?? "", 60)} · ${row.title} · ridge`; // a tab shows the beginning
    const waiting = window.setTimeout(() => {
      if (turn === this.turn) fill(this.main, el("p", { class: "empty muted", role: "status" }, "Working…")); // else a later page is already there
    }, 150);
    let made: Page;
    try {
      made = await row.make({ source: this.source, all: this.all, t, trace: this.all.traces[t]!, parameters, scope: scope_query(scope, this.given) });
      if (!is_timeline && !row.of_job) this.say_scope(made.element, scope, t);
      this.failed = false;
    } catch (error) {
      made = { element: failure(error) };
      this.failed = true;
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

  // Those that the page shows. False: it is not to be shown, another one is asked for or this one is none.
  private async open_traces(row: PageRow, t: number, parameters: URLSearchParams, turn: number): Promise<boolean> {
    const { source, all } = this;
    try {
      if (row.of_job) return true;
      const closed = all.traces[t]?.state === "closed";
      if (closed) fill(this.main, el("p", { class: "empty muted", role: "status" }, `Reading ${all.traces[t]!.name}…`));
      await open_trace(source, all, t);
      const clock = row.name === "timeline" && parameters.has("ranks") && may_have_clock(source, all) ? await load_clock(source, all) : null;
      if (clock) await open_ranks(source, all, clock, (parameters.get("ranks") ?? "").split(".").map(Number));
    } catch (error) {
      if (turn === this.turn) fill(this.main, failure(error));
      this.shown = "";
      return false;
    }
    return turn === this.turn;
  }

  // Whether the timeline is to show another range: it is opened without one, or another part of the trace was chosen on it.
  private look_at(scope: Scope, t: number, is_open: boolean): boolean {
    const chosen = is_open && scope_key(scope) !== scope_key(this.scope);
    const { parameters } = here();
    if (parameters.has("f") && !parameters.has("r")) return false; // a finding says itself where to look
    if (!chosen && ["r", "s", "q"].some((name) => parameters.has(name))) return false;
    const range = range_of(effective(scope, this.given), this.all.traces[t]!);
    if (!range && !chosen) return false;
    const origin = origin_of(alignment_of(this.source, this.all, t, parameters));
    note({ r: range ? `${Math.round(origin + range[0])}-${Math.round(origin + Math.max(range[1], range[0] + 1))}` : null, s: null, a: null });
    return true;
  }

  // What a page shows is said on it: it may be printed, and not all of it is of the trace.
  private say_scope(page: HTMLElement, scope: Scope, t: number): void {
    const text = scope_text(effective(scope, this.given), this.all.traces[t]!);
    if (!text) return;
    const clear = button("Whole trace", () => this.choose(whole(this.given)), { class: "btn small" });
    page.prepend(el("p", { class: "note info scope-note", role: "status" }, `Only ${text} `, this.source.fixed ? null : clear));
  }

  private choose(changes: Record<string, string | null>): void {
    const { page, parameters } = here();
    go(link(page || "summary", { ...Object.fromEntries(parameters), ...changes }));
  }

  private get given(): Scope {
    return this.all.scope ?? {};
  }

  private trace_of(parameters: URLSearchParams): number {
    const t = Number(parameters.get("t") ?? 0);
    return Number.isInteger(t) && t >= 0 && t < this.all.traces.length ? t : 0;
  }

  private draw_nav(current: string, t: number, scope: Scope): void {
    const short = short_names(this.all.traces.map((trace) => trace.name), kTraceName);
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
            ...this.all.traces.map((trace) =>
              el("option", { value: trace.index, selected: trace.index === t, title: shorten(trace.name, 300) }, short[trace.index] ?? ""),
            ),
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
    // On a narrow screen the pages are behind a button; the menu closes when one is chosen, as it is drawn anew.
    const current_title = this.pages.find((page) => page.name === current)?.title ?? "Pages";
    this.nav.classList.remove("open");
    const menu = button(
      `☰ ${current_title}`,
      () => menu.setAttribute("aria-expanded", String(this.nav.classList.toggle("open"))),
      { class: "btn menu", "aria-expanded": "false", title: "All pages" },
    );
    fill(
      this.nav,
      el("a", { class: "brand", href: link("summary", { t: t || null }) }, logo(), "ridge"),
      choice,
      menu,
      this.source.fixed ? null : scope_picker(this.all.traces[t]!, scope, this.given, (changes) => this.choose(changes)),
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
