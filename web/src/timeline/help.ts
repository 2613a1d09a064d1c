// The keys, in a dialog.
import { button, el } from "../ui/dom";
import { kKeys } from "./keys";

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
