// Which ranks of a job are stacked on its common clock: a button in the toolbar, and while they are a row that names them, takes one away or adds one.
// What is chosen goes to the URL, and the page is made anew from it.
import type { DataSource } from "../api/source";
import type { Traces } from "../api/types";
import { button, el } from "../ui/dom";
import * as format from "../ui/format";
import { go, here, link } from "../ui/router";
import { is_stack, kMostStacked, origin_of, type Alignment, type Part } from "./alignment";
import { known_clock, load_clock, may_have_clock, open_ranks, shift_of, type JobClock } from "./job_clock";
import { read_range } from "./view";

const kFirst = 4; // ranks that the button stacks

export class RankBar {
  readonly toggle: HTMLElement | null; // null: the traces are no job
  readonly element: HTMLElement | null; // null: one rank alone

  constructor(
    private readonly source: DataSource,
    private readonly all: Traces,
    private readonly t: number,
    private readonly alignment: Alignment | null,
    private readonly before: () => void, // makes the URL true
    private readonly complain: (message: string) => void,
  ) {
    const stack = is_stack(alignment) ? alignment : null;
    this.toggle = may_have_clock(source, all)
      ? button("Ranks", () => void this.switch(), { class: "btn small tl-ranks-toggle", "aria-pressed": String(stack !== null), title: "Several ranks of the job on one clock" })
      : null;
    const clock = known_clock(source);
    this.element =
      stack && clock
        ? el("div", { class: "tl-align tl-ranks", role: "group", "aria-label": "Ranks on one clock" }, ...stack.map((part) => this.chip(part, stack)), this.more(clock, stack), precision(clock, stack))
        : null;
  }

  // These ranks and the chosen one, or that one alone.
  async stack(ranks: number[] | null): Promise<void> {
    const clock = await load_clock(this.source, this.all);
    if (!clock) return this.complain("These traces are not known to be ranks of one job");
    const own = clock.ranks.find((each) => each.t === this.t);
    const wanted = ranks?.filter((rank) => rank !== own?.rank).slice(0, kMostStacked - 1) ?? [];
    if (ranks && (!own?.aligned || !wanted.length)) return this.complain("This rank meets no other: nothing tells how their clocks differ");
    await open_ranks(this.source, this.all, clock, [own?.rank ?? -1, ...wanted]);
    this.before();
    const { parameters } = here();
    // In times of the chosen trace: where on the axis they are then is told by the page to come.
    const range = read_range(parameters.get("r"));
    const selected = Number(parameters.get("s") ?? NaN);
    const own_slice = Number.isFinite(selected) && (!this.alignment || selected < (this.alignment[1]?.first_id ?? Infinity));
    const next = ranks ? [own!.rank, ...wanted].join(".") : null;
    const moved = (next ? this.origin(clock, next) : 0) - origin_of(this.alignment);
    go(
      link("timeline", {
        ...Object.fromEntries(parameters),
        ranks: next,
        with: null,
        at: null,
        r: range ? `${Math.max(0, Math.round(range.from + moved))}-${Math.round(range.to + moved)}` : null,
        s: own_slice ? selected : null,
        ...Object.fromEntries(["a", "f", "m", "pin", "fold", "y"].map((each) => [each, null])),
      }),
    );
  }

  // The first ranks with this one, or this one alone.
  private async switch(): Promise<void> {
    if (is_stack(this.alignment)) return this.stack(null);
    const clock = await load_clock(this.source, this.all);
    await this.stack(clock?.ranks.filter((each) => each.aligned && each.t !== this.t).slice(0, kFirst - 1).map((each) => each.rank) ?? []);
  }

  // Where the chosen trace begins on the axis of these ranks.
  private origin(clock: JobClock, ranks: string): number {
    const asked = new Set(ranks.split(".").map(Number));
    const shifts = clock.ranks.filter((each) => asked.has(each.rank)).map((each) => ({ t: each.t, ns: shift_of(each, this.all.traces[each.t]!) ?? 0 }));
    return (shifts.find((each) => each.t === this.t)?.ns ?? 0) - Math.min(...shifts.map((each) => each.ns));
  }

  private chip(part: Part, stack: Alignment): HTMLElement {
    const others = stack.filter((each) => each !== part).map((each) => each.rank!);
    const first = part === stack[0];
    return el(
      "span",
      { class: "tl-rank", title: part.trace.name },
      el("b", {}, part.label),
      first || others.length < 2 ? null : button("×", () => void this.stack(others), { class: "tl-rank-away", "aria-label": `Take away ${part.label}` }),
    );
  }

  private more(clock: JobClock, stack: Alignment): HTMLElement | null {
    const shown = new Set(stack.map((each) => each.rank));
    const left = clock.ranks.filter((each) => !shown.has(each.rank) && each.aligned && this.all.traces[each.t]?.state !== "absent");
    if (!left.length || stack.length >= kMostStacked) return null;
    const select: HTMLSelectElement = el(
      "select",
      { class: "input tl-rank-add", "aria-label": "Add a rank", on: { change: () => void this.stack([...stack.map((each) => each.rank!), Number(select.value)]) } },
      el("option", { value: "", selected: true, disabled: true }, "Add a rank"),
      ...left.map(({ rank }) => el("option", { value: rank }, `rank ${rank}`)),
    );
    return select;
  }
}

function precision(clock: JobClock, stack: Alignment): HTMLElement | null {
  const errors = stack.map((part) => clock.ranks.find((each) => each.rank === part.rank)?.error_ns ?? null).filter((each) => each !== null);
  if (!errors.length) return null;
  const worst = Math.max(...errors);
  return el("span", { class: "tl-offset muted", role: "status" }, `one clock, within ${format.time(worst)}; the ruler tells the times of ${stack[0]!.label}`);
}
