// The part of a slice's panel that tells how the ranks met in it: who came last, and how long each of the others waited.
import { button, el, type Child } from "../ui/dom";
import * as format from "../ui/format";
import type { Arrival, Meeting } from "./meeting";

const kShown = 40; // ranks

export interface MeetingActions {
  select(id: number): void;
  stack: ((ranks: number[]) => void) | null; // shows these ranks too; null: they are shown
}

export function meeting_panel(meeting: Meeting, actions: MeetingActions): HTMLElement {
  const { arrivals, bytes, expected } = meeting;
  const longest = Math.max(1, ...arrivals.map((each) => each.wait_ns + each.transfer_ns));
  const hidden = arrivals.filter((each) => !each.slice).map((each) => each.rank);
  const about = [
    meeting.group ? `group ${meeting.group}` : "",
    expected && expected > arrivals.length ? `${arrivals.length} of ${expected} ranks` : format.plural(arrivals.length, "rank", "ranks"),
    bytes === null ? "" : format.number(bytes, "bytes"),
  ];
  return el(
    "section",
    { class: "meeting", "aria-label": "Ranks in this collective" },
    el("h3", {}, "Ranks in this collective"),
    el("p", { class: "muted" }, about.filter(Boolean).join(" · ")),
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...["Rank", "Arrived", "Waited", "Transfer"].map((name) => el("th", { scope: "col" }, name)), el("th", { scope: "col" }, el("span", { class: "unseen" }, "Wait and transfer")))),
      el("tbody", {}, ...arrivals.slice(0, kShown).map((each, i) => arrival(each, i === 0, longest, actions))),
    ),
    arrivals.length > kShown ? el("small", { class: "muted" }, `and ${format.count(arrivals.length - kShown)} that arrived earlier`) : null,
    actions.stack && hidden.length
      ? button("Show these ranks on one clock", () => actions.stack!(arrivals.map((each) => each.rank)), { class: "btn small meeting-stack" })
      : null,
  );
}

function arrival(each: Arrival, last: boolean, longest: number, actions: MeetingActions): HTMLElement {
  const share = (ns: number): string => `${(100 * ns) / longest}%`;
  const name: Child = each.slice ? button(`rank ${each.rank}`, () => actions.select(each.slice!.id), { class: "link" }) : `rank ${each.rank}`;
  return el(
    "tr",
    { "data-rank": each.rank, class: last ? "last" : undefined },
    el("td", {}, name),
    el("td", { class: "num" }, last && each.after_ns > 0 ? `last, + ${format.time(each.after_ns)}` : each.after_ns === 0 ? "first" : `+ ${format.time(each.after_ns)}`),
    el("td", { class: "num" }, format.time(each.wait_ns)),
    el("td", { class: "num" }, format.time(each.transfer_ns)),
    el("td", { class: "meeting-bar" }, el("i", { class: "wait", style: { width: share(each.wait_ns) } }), el("i", { class: "transfer", style: { width: share(each.transfer_ns) } })),
  );
}
