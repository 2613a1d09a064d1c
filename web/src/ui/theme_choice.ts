// Light or dark: what the system prefers, unless the reader chose otherwise. Canvases hear of a change by the event "ridge-theme".

type Choice = "auto" | "light" | "dark";
const kOrder: Choice[] = ["auto", "light", "dark"];
const kKey = "ridge-theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

let choice: Choice = read();

function read(): Choice {
  try {
    const kept = localStorage.getItem(kKey) as Choice | null;
    return kept && kOrder.includes(kept) ? kept : "auto";
  } catch {
    return "auto"; // a file on disk may have no storage
  }
}

export const theme_name = (): string => ({ auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" })[choice];

export function apply_theme(): void {
  document.documentElement.dataset.theme = choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
  window.dispatchEvent(new Event("ridge-theme"));
}

export function next_theme(): void {
  choice = kOrder[(kOrder.indexOf(choice) + 1) % kOrder.length]!;
  try {
    localStorage.setItem(kKey, choice);
  } catch {
    // stays for this visit only
  }
  apply_theme();
}

dark.addEventListener("change", apply_theme);
window.addEventListener("beforeprint", () => {
  document.documentElement.dataset.theme = "light";
});
window.addEventListener("afterprint", apply_theme);
