// A table as text for a spreadsheet or an issue: tab-separated, numbers as they are (ns, bytes), the columns by the names that the JSON uses.
import type { Cell, Column } from "../api/types";
import { button, visible } from "./dom";

const kSaid_ms = 1500;

// A name that a spreadsheet would take for a formula is marked as text.
function plain(value: Cell | undefined): string {
  if (typeof value !== "string") return String(value ?? "");
  const text = visible(value).replace(/[\t\r\n]+/g, " ");
  return /^[=+@-]/.test(text) ? `'${text}` : text;
}

export function tsv(columns: { column: Column; at: number }[], rows: Cell[][]): string {
  const lines = [columns.map(({ column }) => column.name), ...rows.map((row) => columns.map(({ at }) => plain(row[at])))];
  return `${lines.map((line) => line.join("\t")).join("\n")}\n`;
}

// False: the browser does not let us. The new way needs a page that it trusts (loopback, a file), the old one a selection.
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = document.createElement("textarea");
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done;
  }
}

export function copy_button(text: () => string, title = "Copy these rows as tab-separated text, with exact numbers"): HTMLButtonElement {
  const made = button("Copy", () => void run(), { class: "btn small", title });
  const run = async (): Promise<void> => {
    made.textContent = (await copy(text())) ? "Copied" : "Not allowed";
    window.setTimeout(() => (made.textContent = "Copy"), kSaid_ms);
  };
  return made;
}
