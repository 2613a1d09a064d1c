// What the URL holds of the timeline, and when it is written: after a rest, and never over a change of somebody else. What is to be
// loaded, searched or scrolled because of it is the controller's.
import { note } from "../ui/router";
import { RestTimer } from "./rest_timer";
import type { State } from "./state";
import { read_range, type Range } from "./view";

const kUrlDelay_ms = 400;
const kUrlPatience_ms = 1000; // then it is written even if the page has not been idle
const kLongestFilter = 200; // characters
const kMostNotes = 100;

// What the URL asks for that is not simply shown.
export interface Asked {
  range: Range | null;
  area: Range | null; // its time
  query: string;
  slice: string; // as it stands there
  finding: string | null;
  y: number | null; // px below the first track
}

export class Address {
  // Asked for, not here yet: the URL keeps them meanwhile.
  awaited: { slice: number | null; finding: string | null } = { slice: null, finding: null };
  private readonly timer = new RestTimer(kUrlDelay_ms, () => this.write_soon());
  private known_hash: string | null = null; // as last read or written; null: not read yet, and not ours to write
  private stopped = false;

  constructor(private readonly state: State) {}

  remember(): void {
    this.timer.stir();
  }
  stop(): void {
    this.stopped = true;
    this.timer.stop();
  }

  // To change the URL costs a browser some milliseconds: never in the middle of a move.
  private write_soon(): void {
    requestIdleCallback(
      ({ didTimeout }) => {
        if (this.stopped) return;
        if (this.state.moving && !didTimeout) this.remember();
        else this.write();
      },
      { timeout: kUrlPatience_ms },
    );
  }

  // Not when the URL was changed by somebody else since: that change is about to be read, and would be lost.
  write(): void {
    if (location.hash !== this.known_hash) return;
    const { view, selection, area, claim, query, notes, lanes } = this.state;
    const whole = view.length >= view.window_ns;
    note({
      r: whole ? null : `${Math.round(view.from)}-${Math.round(view.to)}`,
      s: this.awaited.slice ?? selection?.id ?? null,
      a: area ? `${Math.round(area.from)}-${Math.round(area.to)}${area.tracks.length ? `:${area.tracks.join(".")}` : ""}` : null,
      f: this.awaited.finding ?? claim?.id ?? null,
      q: query || null,
      m: notes.map((each) => `${each.from}-${each.to}`).join("_") || null,
      pin: [...lanes.pinned].join(".") || null,
      tracks: lanes.filter.trim() || null,
      fold: lanes.folded || null,
      y: Math.round(this.state.scroll) || null,
    });
    this.known_hash = location.hash;
  }

  // Shows the part of the time, the marks, the tracks and the area that the URL holds.
  read(parameters: URLSearchParams): Asked {
    this.known_hash = location.hash;
    const { state } = this;
    const range = read_range(parameters.get("r"));
    if (range) state.view.set(range.from, range.to);
    else if (!parameters.has("s") && !parameters.has("q") && !parameters.has("f")) state.view.fit();
    state.notes = (parameters.get("m") ?? "")
      .split("_")
      .map(read_range)
      .filter((each): each is Range => each !== null)
      .slice(0, kMostNotes);
    state.lanes.pinned.clear();
    for (const id of (parameters.get("pin") ?? "").split(".")) if (/^\d+$/.test(id)) state.lanes.pinned.add(Number(id));
    state.lanes.fold(parameters.get("fold") ?? "");
    state.lanes.find_tracks((parameters.get("tracks") ?? "").slice(0, kLongestFilter));
    const [area_range, tracks] = (parameters.get("a") ?? "").split(":");
    const area = read_range(area_range ?? null);
    state.area = area ? { ...area, tracks: (tracks ?? "").split(".").filter(Boolean).map(Number).filter(Number.isFinite) } : null;
    const y = Number(parameters.get("y") ?? NaN);
    return {
      range,
      area,
      query: parameters.get("q") ?? "",
      slice: parameters.get("s") ?? "",
      finding: parameters.get("f"),
      y: y >= 0 ? y : null,
    };
  }
}
