// What each key does, and the words that say so: the help dialog shows this table. w, a, s and d move while they are held (input.ts).
import type { Controller } from "./controller";
import type { State } from "./state";

export interface KeyScreen {
  search(): void; // to the search box
  find_tracks(): void; // to the box that filters tracks
  clear_search(): void;
  help(): void;
  align(): void; // another trace below, or none
  scroll(pixels: number): void;
}

const kScroll = 60; // px
const kPan = 120; // px

export function keys(control: Controller, state: State, screen: KeyScreen): Record<string, () => void> {
  const current = (): number | null => state.selection?.track ?? state.hovered?.track ?? null;
  return {
    f: () => control.fit(),
    m: () => control.mark(),
    r: () => control.area_of_selection(),
    "Ctrl+a": () => control.select_all(),
    "/": () => screen.search(),
    t: () => screen.find_tracks(),
    ".": () => void control.neighbour("next"),
    ",": () => void control.neighbour("prev"),
    "]": () => void control.follow("out"),
    "[": () => void control.follow("in"),
    p: () => control.pin(current()),
    c: () => control.collapse_all(),
    b: () => screen.align(),
    "?": () => screen.help(),
    Escape: () => {
      screen.clear_search();
      control.clear();
    },
    "Shift+ArrowDown": () => void control.row(1),
    "Shift+ArrowUp": () => void control.row(-1),
    ArrowDown: () => screen.scroll(kScroll),
    ArrowUp: () => screen.scroll(-kScroll),
    ArrowLeft: () => control.pan(-kPan),
    ArrowRight: () => control.pan(kPan),
  };
}

export const kKeys: [string, string][] = [
  ["w / s", "zoom in / out at the mouse"],
  ["a / d", "move left / right"],
  ["Ctrl + wheel", "zoom at the mouse"],
  ["Shift + wheel", "move left / right"],
  ["drag", "select an area: what is inside, and how busy the devices were; on the ruler: all tracks"],
  ["Shift + drag", "pan; so does the middle button"],
  ["↑ / ↓", "scroll the tracks"],
  ["click", "select a slice; double click zooms to it"],
  ["f", "fit the selection; again: the whole trace"],
  ["m", "mark the selection, the area or the mouse position; again: remove the mark"],
  [". / ,", "next / previous slice in the row; the first visible one if none is selected"],
  ["Shift + ↓ / ↑", "the slice in the row below / above"],
  ["] / [", "follow the flow: to what it launches / to what launched it"],
  ["r", "select the time of the slice as an area, on all tracks"],
  ["Ctrl + a", "select everything as an area"],
  ["p", "pin or unpin the track of the selection"],
  ["c", "collapse or open all tracks"],
  ["/", "search; Enter and Shift + Enter walk through the hits"],
  ["t", "filter tracks by name; Esc in the box shows all again"],
  ["b", "another trace below this one, on one time axis; again: without it"],
  ["Esc", "clear selection, area and search"],
  ["?", "this help"],
];
