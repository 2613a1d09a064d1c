// The choice of a second trace below the first: a button in the toolbar, and while there is one a row that names both, their iterations that are laid
// over each other, and by how much the second is moved. What is chosen goes to the URL, and the page is made anew from it.
import type { DataSource } from "../api/source";
import type { Iteration, Traces } from "../api/types";
import { button, el, shorten, type Child } from "../ui/dom";
import * as format from "../ui/format";
import { go, here, link } from "../ui/router";
import { alignable, alignment_of, ids_each, is_stack, origin_of, type Alignment, type Part } from "./alignment";
import { read_range } from "./view";

let focus_next = ""; // what of the page had the focus before it was made anew

export class AlignBar {
  readonly toggle: HTMLElement | null; // null: there is no other trace
  readonly element: HTMLElement | null; // null: there is no second one now

  constructor(
    private readonly source: DataSource,
    private readonly all: Traces,
    private readonly t: number,
    private readonly alignment: Alignment | null,
    private readonly before: () => void, // makes the URL true
  ) {
    const pair = is_stack(alignment) ? null : alignment;
    const others = alignable(source, all, t);
    const title = "Another trace below this one, on one time axis (b)";
    this.toggle = others.length
      ? button("Align", () => this.switch("tl-align-toggle"), { class: "btn small tl-align-toggle", "aria-pressed": String(pair !== null), title })
      : null;
    this.element = pair && el("div", { class: "tl-align", role: "group", "aria-label": "Aligned traces" }, ...pair.flatMap((part) => this.part(part)), offset(pair));
  }

  // With the first other trace, or without one.
  switch(from: string): void {
    const [other] = alignable(this.source, this.all, this.t);
    if (other) this.choose(from, this.alignment && !is_stack(this.alignment) ? null : String(other.index), null);
  }

  // After the page was made anew: the keyboard goes on where it was.
  refocus(page: HTMLElement): void {
    if (focus_next) page.querySelector<HTMLElement>(`.${focus_next}`)?.focus({ preventScroll: true });
    focus_next = "";
  }

  // The same part of the first trace stays in view.
  private choose(from: string, other: string | null, at: string | null): void {
    focus_next = from;
    this.before();
    const { parameters } = here();
    const next = new URLSearchParams(parameters);
    next.delete("ranks");
    if (other === null) next.delete("with");
    else next.set("with", other);
    const moved = origin_of(alignment_of(this.source, this.all, this.t, withed(next, at))) - origin_of(this.alignment);
    const range = (text: string): string => {
      const found = read_range(text);
      return found ? `${found.from + moved}-${found.to + moved}` : "";
    };
    const selected = Number(parameters.get("s") ?? -1);
    const keeps = parameters.has("s") && !parameters.has("ranks") && (selected < ids_each(2) || other === parameters.get("with"));
    go(
      link("timeline", {
        ...Object.fromEntries(parameters),
        with: other,
        ranks: null,
        at,
        r: range(parameters.get("r") ?? ""),
        m: (parameters.get("m") ?? "").split("_").map(range).filter(Boolean).join("_"),
        s: keeps ? selected : null,
        a: null,
        f: null,
      }),
    );
  }

  private part(part: Part): Child[] {
    const name = shorten(part.trace.name, 60);
    const others = part.label === "B" ? alignable(this.source, this.all, this.t) : [];
    return [el("b", {}, part.label), others.length > 1 ? this.traces(part, others) : el("span", { class: "tl-align-name", title: shorten(part.trace.name, 300) }, name), this.iterations(part)];
  }

  private traces(part: Part, others: Traces["traces"]): HTMLElement {
    const select: HTMLSelectElement = el(
      "select",
      { class: "input tl-align-trace", "aria-label": "Trace B", on: { change: () => this.choose("tl-align-trace", select.value, null) } },
      ...others.map(({ index, name }) => el("option", { value: index, selected: index === part.t }, shorten(name, 60))),
    );
    return select;
  }

  private iterations({ label: letter, iteration, trace }: Part): HTMLElement {
    if (!iteration) return el("span", { class: "muted" }, "from the start of its window");
    const place = `tl-align-${letter.toLowerCase()}`;
    const select: HTMLSelectElement = el(
      "select",
      { class: `input ${place}`, "aria-label": `Iteration of ${letter}`, on: { change: () => this.choose(place, this.parameter("with"), this.at(letter, select.value)) } },
      ...trace.iterations.list.map((each: Iteration) =>
        el("option", { value: each.index, selected: each === iteration }, `Iteration ${each.index} · ${format.time(each.end_ns - each.start_ns)}`),
      ),
    );
    return select;
  }
  private at(letter: string, index: string): string {
    const [a, b] = this.alignment!.map(({ iteration }) => String(iteration!.index));
    return letter === "A" ? `${index}.${b}` : `${a}.${index}`;
  }
  private parameter(name: string): string | null {
    return here().parameters.get(name);
  }
}

function withed(parameters: URLSearchParams, at: string | null): URLSearchParams {
  if (at === null) parameters.delete("at");
  else parameters.set("at", at);
  return parameters;
}

function offset(alignment: Alignment): HTMLElement {
  const [a, b] = alignment as [Part, Part];
  const moved = b.shift_ns - a.shift_ns;
  const text = moved === 0 ? "B is not moved" : `B is moved ${format.time(Math.abs(moved))} ${moved > 0 ? "later" : "earlier"}`;
  return el("span", { class: "tl-offset", role: "status", "data-ns": moved, title: `${moved.toLocaleString("en-US")} ns are added to the times of B. The ruler tells the times of A.` }, text);
}
