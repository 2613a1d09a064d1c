// Tables on paper: who is told that the page is printed, and how small a table must be for all its columns to fit.
const kPaper = { upright: 655, wide: 990 }; // px of A4 between its margins and a card's
const kZoom = { least: 0.45, most: 0.72 };

interface Printed {
  readonly element: HTMLElement;
  print(on: boolean): void;
}

const live = new Set<WeakRef<Printed>>();

// It hears of printing as long as it is in the page.
export function prints(table: Printed): void {
  live.add(new WeakRef(table));
}

function print_all(on: boolean): void {
  for (const reference of live) {
    const table = reference.deref();
    if (table?.element.isConnected) table.print(on);
    else if (!table) live.delete(reference);
  }
}
window.addEventListener("beforeprint", () => print_all(true));
window.addEventListener("afterprint", () => print_all(false));

export function paper_zoom(element: HTMLElement, width: number): number {
  const paper = element.closest(".page.wide") ? kPaper.wide : kPaper.upright;
  return Math.max(kZoom.least, Math.min(kZoom.most, paper / Math.max(1, width)));
}
