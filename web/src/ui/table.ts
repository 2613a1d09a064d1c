// A table of a report: sortable, filterable, drawn only where it is looked at, so that 100,000 rows cost as much as 40.
// Knows columns by type, unit and role only; which columns come first and what a click opens is said by the page.
import type { Cell, Column, Table } from "../api/types";
import { column_grip, resize_by_key } from "./column_grip";
import { chip, is_code, numeric } from "./columns";
import { button, el, fill, shorten, type Child } from "./dom";
import * as format from "./format";
import { paper_zoom, prints } from "./paper";
import { expression_of, matching_rows } from "../api/row_filter";
import { compare, matcher } from "./row_order";
import { copy_button, tsv } from "./table_copy";
import { recall, remember } from "./table_memory";

const kRowHeight = 28;
const kOverscan = 8;
const kInlineRows = 30; // up to here the whole table is in the page and does not scroll by itself
const kPrintedRows = 60;
const kTitleLength = 600;
const kLeastFlexible = 210; // px
const kLeastName = 270; // px, of the first column: names that begin alike are told apart by what follows
const kFlexible = 30; // characters: longer texts share what is left of the width, as far as they need it
const kChar = 8.2; // px, of a text
const kDigit = 8.4; // px, of a number; totals are bold
const kHeadChar = 7.5; // px, of a column's head
const kHeadRoom = 38; // px beside it, with the arrow of the sorted column
const kMostCategory = 200; // px
const kFilterDelay_ms = 150; // while an expression is typed

export interface TableOptions {
  first?: string[]; // columns to show first, in this order; the others follow
  only?: string[]; // columns to show until "all columns" is asked for
  sort?: string; // "-time_ns": downwards
  filter?: string; // initial text of the filter
  open?: (row: Cell[], at: (column: string) => Cell) => string | null; // the hash that a click on the row opens
  link?: (row: Cell[], at: (column: string) => Cell) => string | null; // where the row's name leads, if elsewhere than the row
  cell?: (column: Column, value: Cell, row: Cell[]) => Child | undefined; // undefined: as usual
  label?: string;
  height?: string; // CSS; default: what is left of the screen
  filterable?: boolean;
  on_filter?: (text: string) => void;
}

interface Shown {
  column: Column;
  at: number; // index in a row
  width: string;
  max: number; // largest value of a percent column's bar
}

let tables = 0;

export class TableView {
  readonly element: HTMLElement;
  private readonly head = el("div", { class: "t-head", role: "row" });
  private readonly body = el("div", { class: "t-rows", role: "rowgroup" });
  private readonly foot = el("div", { class: "t-total", role: "row" });
  private readonly scroll: HTMLElement;
  private readonly caption = el("span", { class: "muted", "aria-live": "polite" });
  private input: HTMLInputElement | null = null; // the filter
  private order: number[] = [];
  private shown: Shown[] = [];
  private all_columns: boolean;
  private widths: Record<string, number>; // px, of those that the reader has resized
  private sort_by: string | null;
  private down = true;
  private text: string;
  private active = -1;
  private printing = false;
  private least = 0; // px that the columns need
  private readonly id = `t${++tables}`; // of its rows' ids

  constructor(
    private readonly table: Table,
    private readonly options: TableOptions = {},
  ) {
    const kept = recall(table.name);
    const known = table.columns.some((column) => column.name === kept.sort?.replace(/^-/, ""));
    const sort = known ? kept.sort : options.sort;
    this.sort_by = sort?.replace(/^-/, "") ?? null;
    this.down = sort?.startsWith("-") ?? true;
    this.widths = { ...kept.widths };
    this.all_columns = kept.all_columns ?? false;
    this.text = options.filter ?? "";
    this.scroll = el(
      "div",
      {
        class: "t-scroll",
        role: "grid",
        tabindex: "0",
        "aria-label": options.label ?? table.name,
        "aria-description": options.open ? "Arrow keys move between rows, Enter opens the row, Shift+Enter opens the link of its name." : undefined,
        on: { scroll: () => this.draw(), keydown: (event: KeyboardEvent) => this.key(event) },
      },
      this.head,
      this.body,
      this.foot,
    );
    this.element = el("div", { class: "table" }, this.toolbar(), this.scroll);
    if (table.rows.length > kInlineRows) this.scroll.style.setProperty("max-height", options.height ?? "max(320px, calc(100vh - 214px))");
    this.choose_columns();
    this.arrange();
    if (expression_of(this.text) !== null) this.filter(this.text);
    prints(this);
    new ResizeObserver(() => this.draw()).observe(this.scroll); // first of all when the page takes it in: only now its height is known
  }

  // What is on the screen, for tests: the rows in order, as values.
  get rows(): Cell[][] {
    return this.order.map((i) => this.table.rows[i]!);
  }

  private toolbar(): Child {
    const wanted = this.options.filterable ?? this.table.rows.length > 8;
    if (!wanted) return null;
    const input = (this.input = el("input", {
      class: "input",
      type: "search",
      placeholder: "Filter rows…",
      title: "Text as it stands, =a whole name, or /a regular expression/ (RE2)",
      "aria-label": "Filter rows",
      value: this.text,
      spellcheck: "false",
      on: { input: () => this.filter(input.value) },
    }));
    const hidden = this.options.only && this.options.only.length < this.table.columns.length;
    const more = hidden ? button("All columns", () => this.toggle_columns(more!), { class: "btn small", "aria-pressed": String(this.all_columns) }) : null;
    const copies = copy_button(() => tsv(this.shown, this.rows));
    return el("div", { class: "t-tools" }, input, this.caption, el("span", { class: "grow" }), more, copies);
  }

  private filter(text: string): void {
    this.text = text;
    this.options.on_filter?.(text);
    clearTimeout(this.filter_timer);
    this.passing = null;
    this.complaint = "";
    const expression = expression_of(text);
    if (expression === null) this.arrange();
    else this.filter_timer = window.setTimeout(() => void this.filter_by(expression), kFilterDelay_ms);
  }
  private filter_timer = 0;
  private passing: Set<number> | null = null; // rows that a regular expression lets through
  private complaint = ""; // what is wrong with it

  // Rows stay as they are until the answer is there, and where there is none.
  private async filter_by(expression: string): Promise<void> {
    const { text } = this;
    let [passing, complaint]: [Set<number> | null, string] = [null, ""];
    try {
      passing = new Set(await matching_rows(this.table, expression));
    } catch (error) {
      complaint = (error as Error).message;
    }
    if (text !== this.text) return; // typed on meanwhile
    this.passing = passing;
    this.complaint = complaint;
    this.arrange();
  }

  private toggle_columns(toggle: HTMLButtonElement): void {
    this.all_columns = !this.all_columns;
    toggle.setAttribute("aria-pressed", String(this.all_columns));
    remember(this.table.name, { all_columns: this.all_columns });
    this.choose_columns();
    this.arrange();
  }

  // Columns in which nothing is known are left out until all are asked for.
  private choose_columns(): void {
    const { columns, rows } = this.table;
    const known = (at: number): boolean => rows.some((row) => row[at] !== null && row[at] !== undefined);
    const names = columns.map((column) => column.name);
    const first = (this.options.first ?? this.options.only ?? []).filter((name) => names.includes(name));
    const only = this.options.only;
    const wanted = [...first, ...names.filter((name) => !first.includes(name))]
      .filter((name) => this.all_columns || !only || only.includes(name))
      .map((name) => names.indexOf(name))
      .filter((at) => this.all_columns || ((known(at) || rows.length === 0) && columns[at]!.role !== "event")); // ids are for links
    this.shown = wanted.map((at, nth) => this.measure(columns[at]!, at, nth));
    this.set_widths();
  }

  private set_widths(): void {
    this.scroll.style.setProperty("--columns", this.shown.map((shown) => this.width_of(shown)).join(" ") + " 1fr"); // the rest stays empty
    const least = this.shown.reduce((sum, shown) => sum + parseInt(this.width_of(shown).replace("minmax(", ""), 10), 0);
    this.scroll.style.setProperty("--least", `${least}px`);
    this.least = least;
  }

  private width_of({ column, width }: Shown): string {
    const own = this.widths[column.name];
    return own ? `${own}px` : width;
  }

  private resize(column: Column, px: number | null): void {
    const { [column.name]: _old, ...others } = this.widths;
    this.widths = px === null ? others : { ...others, [column.name]: px };
    remember(this.table.name, { widths: this.widths });
    this.set_widths();
    this.draw();
  }

  // Where a number and a time are called alike ("compile", "compile_ns"), the time says so.
  private heading(column: Column): string {
    const name = format.heading(column.name, column.unit);
    const alike = column.unit === "ns" && this.table.columns.some((each) => each !== column && format.heading(each.name, each.unit) === name);
    return alike ? `${name} time` : name;
  }

  private measure(column: Column, at: number, nth: number): Shown {
    const rows = this.table.rows;
    const title = this.heading(column).length * kHeadChar + kHeadRoom;
    let longest = 0;
    let max = 0;
    const step = Math.max(1, Math.floor(rows.length / 300));
    for (let i = 0; i < rows.length; i += step) {
      const value = rows[i]![at];
      longest = Math.max(longest, Math.min(90, format.cell(value, column).length));
      if (typeof value === "number") max = Math.max(max, value);
    }
    longest = Math.max(longest, Math.min(90, format.cell(this.table.total?.[at], column).length));
    const text = column.name === "category" ? Math.min(kMostCategory, longest * kChar + 36) : longest * (numeric(column) ? kDigit : kChar) + 26;
    const flexible = column.type === "text" && longest > kFlexible;
    const width = flexible ? `minmax(${nth ? kLeastFlexible : kLeastName}px, ${Math.round(Math.max(kLeastName, text))}px)` : `${Math.round(Math.max(56, text, title))}px`;
    return { column, at, width, max: column.unit === "percent" ? Math.max(max, 1e-9) : 0 };
  }

  // Sorted and filtered, then drawn from the top.
  private arrange(): void {
    const { rows, columns } = this.table;
    const { passing } = this;
    const match = expression_of(this.text) === null ? matcher(this.text) : null;
    this.order = [];
    for (let i = 0; i < rows.length; ++i) {
      if (passing ? passing.has(i) : !match || rows[i]!.some((value) => typeof value === "string" && match(value))) this.order.push(i);
    }
    const at = columns.findIndex((column) => column.name === this.sort_by);
    if (at >= 0) {
      const sign = this.down ? -1 : 1;
      this.order.sort((a, b) => compare(rows[a]![at] ?? null, rows[b]![at] ?? null, sign) || a - b);
    }
    this.active = -1;
    this.scroll.removeAttribute("aria-activedescendant");
    this.input?.setAttribute("aria-invalid", String(this.complaint !== ""));
    this.caption.classList.toggle("wrong", this.complaint !== "");
    fill(
      this.caption,
      this.complaint
        ? shorten(this.complaint, 300)
        : this.order.length === rows.length
        ? format.plural(rows.length, "row", "rows")
        : `${format.count(this.order.length)} of ${format.count(rows.length)} rows`,
    );
    this.scroll.setAttribute("aria-rowcount", String(this.order.length + 1));
    this.draw_head();
    this.draw_total();
    this.scroll.scrollTop = 0;
    this.draw();
  }

  private draw_head(): void {
    const focused = this.head.contains(document.activeElement) ? document.activeElement!.getAttribute("data-column") : null;
    fill(
      this.head,
      ...this.shown.map(({ column }) => {
        const sorted = column.name === this.sort_by;
        const arrow = sorted ? (this.down ? " ↓" : " ↑") : "";
        const head: HTMLElement = el(
          "div",
          {
            role: "columnheader",
            class: `t-h ${numeric(column) ? "num" : ""}`,
            "aria-sort": sorted ? (this.down ? "descending" : "ascending") : "none",
          },
          button(`${this.heading(column)}${arrow}`, () => this.sort(column), {
            class: "t-sort",
            title: `Sort by ${column.name}; Shift and the arrow keys resize it`,
            "data-column": column.name,
            on: { keydown: (event: KeyboardEvent) => resize_by_key(event, (event.target as HTMLElement).parentElement!, (px) => this.resize(column, px)) },
          }),
        );
        head.append(column_grip(() => head, (px) => this.resize(column, px)));
        return head;
      }),
    );
    if (focused) (this.head.querySelector(`[data-column="${CSS.escape(focused)}"]`) as HTMLElement | null)?.focus();
  }

  private sort(column: Column): void {
    if (this.sort_by === column.name) this.down = !this.down;
    else {
      this.sort_by = column.name;
      this.down = column.type !== "text";
    }
    remember(this.table.name, { sort: `${this.down ? "-" : ""}${column.name}` });
    this.arrange();
  }

  private draw_total(): void {
    const total = this.table.total;
    const whole = total && !this.text;
    this.foot.hidden = !whole;
    if (!whole) return;
    let named = false;
    fill(
      this.foot,
      ...this.shown.map(({ column, at }) => {
        const value = total[at] ?? null;
        const text = value === null ? (named ? "" : "Total") : format.cell(value, column);
        named = true;
        return el("div", { class: `t-c ${numeric(column) ? "num" : ""}`, role: "gridcell" }, text);
      }),
    );
  }

  private draw(): void {
    this.scroll.classList.toggle("cut", this.scroll.scrollLeft + this.scroll.clientWidth < this.scroll.scrollWidth - 1); // columns to the right
    const all = this.order.length <= kInlineRows || this.printing;
    const height = this.scroll.clientHeight || 600;
    const first = all ? 0 : Math.max(0, Math.floor(this.scroll.scrollTop / kRowHeight) - kOverscan);
    const last = all
      ? Math.min(this.order.length, this.printing ? kPrintedRows : kInlineRows)
      : Math.min(this.order.length, first + Math.ceil(height / kRowHeight) + 2 * kOverscan);
    this.body.style.setProperty("height", `${(all ? last : this.order.length) * kRowHeight}px`);
    const rows: Node[] = [];
    for (let i = first; i < last; ++i) rows.push(this.draw_row(i));
    if (!this.order.length) rows.push(el("div", { class: "t-empty muted" }, this.table.rows.length ? "No row matches." : "Nothing here."));
    fill(this.body, ...rows);
  }

  private draw_row(i: number): Node {
    const row = this.table.rows[this.order[i]!]!;
    const target = this.asked(this.options.open, row);
    const link_at = Math.max(
      0,
      this.shown.findIndex(({ column }) => is_code(column)),
    );
    const node = el(
      "div",
      {
        class: `t-row${target ? " opens" : ""}${i === this.active ? " active" : ""}`,
        role: "row",
        id: `${this.id}-${i}`,
        "aria-rowindex": i + 2,
        "aria-selected": i === this.active ? "true" : undefined,
        style: { top: `${i * kRowHeight}px` },
        on: target ? { click: (event: MouseEvent) => open_link(event, target) } : {},
      },
      ...this.shown.map((shown, n) => this.draw_cell(shown, row, n === link_at ? (this.asked(this.options.link, row) ?? target) : null)),
    );
    return node;
  }

  private asked(door: TableOptions["open"], row: Cell[]): string | null {
    return door?.(row, (name) => row[this.table.columns.findIndex((column) => column.name === name)] ?? null) ?? null;
  }

  private draw_cell({ column, at, max }: Shown, row: Cell[], target: string | null): Node {
    const value = row[at] ?? null;
    const own = this.options.cell?.(column, value, row);
    const text = format.cell(value, column);
    const content: Child =
      own !== undefined ? own : column.name === "category" && typeof value === "string" ? chip(value) : shorten(text, 400);
    const long = column.type === "text" && text.length > 18;
    const node = el(
      "div",
      {
        class: `t-c ${numeric(column) ? "num" : ""}${value === null ? " unknown" : ""}${is_code(column) ? " code" : ""}`,
        role: "gridcell",
        title: long ? shorten(text, kTitleLength) : undefined,
      },
      target ? el("a", { href: target, tabindex: "-1" }, content) : content,
    );
    if (max > 0 && typeof value === "number") {
      node.classList.add("bar");
      node.style.setProperty("--share", `${Math.max(0, Math.min(100, (100 * value) / Math.max(max, 1e-9)))}%`);
    }
    return node;
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.scroll) return; // a button of the head, or of a cell
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -1e9, End: 1e9 };
    const step = steps[event.key];
    if (step !== undefined && this.order.length) {
      event.preventDefault();
      this.active = Math.max(0, Math.min(this.order.length - 1, this.active + step));
      const top = this.active * kRowHeight;
      const room = this.scroll.clientHeight - 3 * kRowHeight;
      if (top < this.scroll.scrollTop) this.scroll.scrollTop = top;
      else if (top > this.scroll.scrollTop + room) this.scroll.scrollTop = top - room;
      this.draw();
      this.scroll.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    } else if (event.key === "Enter" && this.active >= 0) {
      const row = this.table.rows[this.order[this.active]!]!;
      const target = (event.shiftKey ? this.asked(this.options.link, row) : null) ?? this.asked(this.options.open, row);
      if (target) location.hash = target;
    }
  }

  // On paper there is nothing to scroll: the first rows stand there as they are, small enough for all columns.
  print(on: boolean): void {
    this.printing = on;
    this.element.style.setProperty("--print-zoom", paper_zoom(this.element, this.least).toFixed(3));
    this.draw();
  }
}

function open_link(event: MouseEvent, target: string): void {
  if (getSelection()?.toString() || event.ctrlKey || event.metaKey || (event.target as Element).closest("a,button")) return;
  location.hash = target;
}
