// The box above the names of the tracks: only tracks whose names hold the words in it are shown.
import { el } from "../ui/dom";
import * as format from "../ui/format";
import type { Controller } from "./controller";
import type { Lanes } from "./lanes";

export class TrackFinder {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly count = el("small", { class: "muted num", role: "status" });

  constructor(
    private readonly lanes: Lanes,
    control: Controller,
    leave: () => void, // back to the lanes
  ) {
    this.input = el("input", {
      class: "input",
      type: "search",
      placeholder: "Filter tracks ( t )",
      "aria-label": "Filter tracks by name",
      spellcheck: "false",
      on: {
        input: () => control.find_tracks(this.input.value),
        keydown: (event: KeyboardEvent) => {
          if (event.key === "Escape") control.find_tracks("");
          if (event.key === "Escape" || event.key === "Enter") leave();
        },
      },
    });
    this.element = el("div", { class: "tl-finder" }, this.input, this.count);
  }

  // After the lanes were arranged anew, whoever asked for it.
  show(): void {
    const { filter, shown, sliced: tracks } = this.lanes;
    if (this.input.value !== filter) this.input.value = filter;
    const all = format.plural(tracks.length, "track", "tracks");
    this.count.textContent = filter ? `${format.count(shown)} of ${all}` : all;
  }
}
