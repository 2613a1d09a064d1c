// The keys, in a dialog.
import { button, el } from "../ui/dom";

const kKeys: [string, string][] = [
  ["w / s", "zoom in / out at the mouse"],
  ["a / d", "move left / right"],
  ["Ctrl + wheel", "zoom at the mouse"],
  ["Shift + wheel", "move left / right"],
  ["drag", "move; with Shift, or in Select mode, select an area"],
  ["↑ / ↓", "scroll the tracks"],
  ["click", "select a slice; double click zooms to it"],
  ["f", "fit the selection; again: the whole trace"],
  ["m", "mark the selection, the area or the place of the mouse; again: take it off"],
  [". / ,", "next / previous slice of the same row"],
  ["] / [", "along the flow: to what it launches / to what launched it"],
  ["p", "pin the track of the selection, or take it off"],
  ["c", "collapse or open all tracks"],
  ["/", "search; Enter and Shift + Enter walk through the hits"],
  ["Esc", "clear selection, area and search"],
  ["?", "this help"],
];

export function help_dialog(): HTMLDialogElement {
  const dialog = el(
    "dialog",
    { class: "dialog", "aria-label": "Keys" },
    el("h2", {}, "Keys"),
    el(
      "dl",
      { class: "keys" },
      ...kKeys.flatMap(([keys, meaning]) => [
        el(
          "dt",
          {},
          ...keys
            .split(" ")
            .map((key) => (key === "/" && keys !== "/" ? el("span", { class: "muted" }, " / ") : key === "+" ? " + " : el("kbd", {}, key))),
        ),
        el("dd", {}, meaning),
      ]),
    ),
    button("Close", () => dialog.close(), { class: "btn" }),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  return dialog;
}
