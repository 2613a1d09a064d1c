// A heat map on a canvas: rows by columns, a value in each cell. Where there are more rows or columns than the screen has room for, a cell stands for
// several and shows the largest of them; a click on such a cell looks closer. By keyboard: arrows move
// a cursor, Enter does what a click does, Backspace looks from farther away.
import { prepare, theme } from "../timeline/theme";
import { el } from "./dom";
import { shade_at, shades } from "./heat_scale";

const kLeastRow = 6; // px
const kMostRow = 22;
const kLeastColumn = 8;
const kMostColumn = 90;
const kMostHeight = 520;
const kNameWidth = 74; // of the rows, beside the map
const kHead = 20; // of the columns, above it
const kGap = 1;
const kCloserRows = 24; // that a look from nearer shows
const kCloserColumns = 48;

export interface HeatData {
  rows: number;
  columns: number;
  value(row: number, column: number): number; // NaN: unknown
  most: number; // what the strongest colour stands for
  colour: string; // "#rrggbb"
  row_name(row: number): string;
  column_name(column: number): string;
  row_marked(row: number): boolean; // named in bold
}

// A part of rows and columns; ends are not in it.
export interface HeatWindow {
  row: number;
  row_end: number;
  column: number;
  column_end: number;
}

export interface HeatActions {
  open(row: number, column: number): void; // one cell
  says(cell: HeatWindow | null): void; // what the cursor is on
  looks(window: HeatWindow): void; // the part that is shown has changed
}

interface Grid {
  window: HeatWindow;
  per_row: number; // rows that one line stands for
  per_column: number;
  lines: number;
  bars: number;
  height: number; // px of a line
  width: number; // px of a bar
}

export class HeatMap {
  readonly element: HTMLElement;
  private readonly canvas = el("canvas", { class: "heat-canvas", "aria-hidden": "true" });
  private readonly ring = el("div", { class: "heat-ring", hidden: true }); // around the cell of the cursor: the map itself is not drawn anew for it
  private window: HeatWindow;
  private past: HeatWindow[] = [];
  private cursor: { line: number; bar: number } | null = null;
  private width = 0;
  private palette: { key: string; shades: string[] } = { key: "", shades: [] };
  readonly stats = { draws: 0, ms: 0, cells: 0 }; // for tests and measurements

  constructor(
    private data: HeatData,
    private readonly actions: HeatActions,
    label: string,
  ) {
    this.window = this.all;
    this.element = el(
      "div",
      {
        class: "heat",
        tabindex: "0",
        role: "application",
        "aria-label": label,
        "aria-description": "Arrow keys move between cells, Enter opens a cell or looks closer, Backspace looks from farther away.",
        on: {
          pointermove: (event: PointerEvent) => this.point(event),
          pointerleave: () => this.put(null),
          click: (event: PointerEvent) => (this.point(event), this.press()),
          keydown: (event: KeyboardEvent) => this.key(event),
          focus: () => this.cursor ?? this.put({ line: 0, bar: 0 }),
        },
      },
      this.canvas,
      this.ring,
    );
    new ResizeObserver(() => this.resized()).observe(this.element);
    window.addEventListener("ridge-theme", this.themed);
  }

  // Other values of the same rows and columns.
  show(data: HeatData): void {
    this.data = data;
    this.draw();
    this.put(this.cursor);
  }
  // The part that is shown: all of it where the window is null.
  look(window: HeatWindow | null): void {
    this.past = window ? [this.all] : [];
    this.window = window ? within(window, this.data) : this.all;
    this.changed();
  }
  get shown(): HeatWindow {
    return this.window;
  }
  get is_whole(): boolean {
    return same(this.window, this.all);
  }
  close(): void {
    window.removeEventListener("ridge-theme", this.themed);
  }

  private readonly themed = (): void => this.draw();
  private get all(): HeatWindow {
    return { row: 0, row_end: this.data.rows, column: 0, column_end: this.data.columns };
  }
  private resized(): void {
    const width = this.element.clientWidth;
    if (!width || width === this.width) return; // none: the page is left
    this.width = width;
    this.draw();
    this.actions.looks(this.window); // a cell may stand for more or fewer now
  }
  private changed(): void {
    this.cursor = null;
    this.draw();
    this.actions.says(null);
    this.actions.looks(this.window);
  }

  // How the part that is shown is divided for the room that there is.
  grid(): Grid {
    const { row, row_end, column, column_end } = this.window;
    const [rows, columns] = [Math.max(1, row_end - row), Math.max(1, column_end - column)];
    const room = Math.max(40, this.width - kNameWidth);
    const per_row = Math.ceil((rows * kLeastRow) / kMostHeight);
    const per_column = Math.ceil((columns * kLeastColumn) / room);
    const [lines, bars] = [Math.ceil(rows / per_row), Math.ceil(columns / per_column)];
    return {
      window: this.window,
      per_row,
      per_column,
      lines,
      bars,
      height: Math.max(kLeastRow, Math.min(kMostRow, Math.floor(kMostHeight / lines))),
      width: Math.min(kMostColumn, room / bars),
    };
  }

  // The rows and columns that a cell of the screen stands for.
  private cell(line: number, bar: number): HeatWindow {
    return cell_of(this.grid(), line, bar);
  }

  // The largest value in it, and where it is.
  peak(cell: HeatWindow): { value: number; row: number; column: number } {
    const found = { value: NaN, row: cell.row, column: cell.column };
    for (let row = cell.row; row < cell.row_end; ++row) {
      for (let column = cell.column; column < cell.column_end; ++column) {
        const value = this.data.value(row, column);
        if (value > found.value || (Number.isNaN(found.value) && !Number.isNaN(value))) Object.assign(found, { value, row, column });
      }
    }
    return found;
  }

  private draw(): void {
    if (!this.width) return;
    const began = performance.now();
    const grid = this.grid();
    const colours = theme();
    const height = kHead + grid.lines * grid.height;
    const context = prepare(this.canvas, this.width, height);
    context.clearRect(0, 0, this.width, height);
    const key = `${colours.lane}/${this.data.colour}`;
    if (this.palette.key !== key) this.palette = { key, shades: shades(colours.lane, this.data.colour) };
    const gap_x = grid.width >= 6 ? kGap : 0;
    const gap_y = grid.height >= 5 ? kGap : 0;
    for (let line = 0; line < grid.lines; ++line) {
      for (let bar = 0; bar < grid.bars; ++bar) {
        const { value } = this.peak(cell_of(grid, line, bar));
        const [a, b] = [Math.round(bar * grid.width), Math.round((bar + 1) * grid.width)];
        const y = kHead + line * grid.height;
        if (Number.isNaN(value)) this.unknown(context, kNameWidth + a, y, b - a - gap_x, grid.height - gap_y);
        else {
          context.fillStyle = this.palette.shades[shade_at(value, this.data.most)]!;
          context.fillRect(kNameWidth + a, y, b - a - gap_x, grid.height - gap_y);
        }
      }
    }
    this.names(context, grid);
    this.mark();
    Object.assign(this.stats, { draws: this.stats.draws + 1, ms: performance.now() - began, cells: grid.lines * grid.bars });
  }

  // Not measured: a stroke through the middle, whatever the colour of nothing is.
  private unknown(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
    context.fillStyle = theme().line;
    context.fillRect(x + width * 0.3, y + height / 2, Math.max(1, width * 0.4), 1);
  }

  private names(context: CanvasRenderingContext2D, grid: Grid): void {
    const { window, per_row, per_column } = grid;
    const colours = theme();
    context.textBaseline = "middle";
    context.textAlign = "right";
    const every = Math.ceil(13 / grid.height);
    for (let line = 0; line < grid.lines; line += 1) {
      const row = window.row + line * per_row;
      const marked = this.marked(row, Math.min(window.row_end, row + per_row));
      if (line % every && !marked) continue;
      context.font = `${marked ? "bold " : ""}11px system-ui, sans-serif`;
      context.fillStyle = marked ? colours.text : colours.muted;
      if (marked && line % every) context.clearRect(0, kHead + line * grid.height - 4, kNameWidth - 4, grid.height + 8); // over its neighbour
      context.fillText(this.data.row_name(row), kNameWidth - 6, kHead + (line + 0.5) * grid.height, kNameWidth - 8);
    }
    context.textAlign = "left";
    context.fillStyle = colours.muted;
    context.font = "11px system-ui, sans-serif";
    const apart = Math.ceil(56 / grid.width);
    for (let bar = 0; bar < grid.bars; bar += apart) {
      const x = kNameWidth + bar * grid.width + 2;
      if (x + 30 < this.width) context.fillText(this.data.column_name(window.column + bar * per_column), x, kHead / 2);
    }
  }
  private marked(row: number, end: number): boolean {
    for (let each = row; each < end; ++each) if (this.data.row_marked(each)) return true;
    return false;
  }

  private mark(): void {
    this.ring.hidden = !this.cursor;
    if (!this.cursor) return;
    const { line, bar } = this.cursor;
    const { width, height } = this.grid();
    const [a, b] = [Math.round(bar * width), Math.round((bar + 1) * width)];
    const place = { left: kNameWidth + a - 2, top: kHead + line * height - 2, width: b - a + 3, height: height + 3 };
    for (const [name, px] of Object.entries(place)) this.ring.style.setProperty(name, `${px}px`);
  }

  // --- the cursor

  private put(cursor: { line: number; bar: number } | null): void {
    this.cursor = cursor;
    this.mark();
    this.actions.says(cursor && this.cell(cursor.line, cursor.bar));
  }
  private point(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const grid = this.grid();
    const bar = Math.floor((event.clientX - box.left - kNameWidth) / grid.width);
    const line = Math.floor((event.clientY - box.top - kHead) / grid.height);
    const inside = bar >= 0 && bar < grid.bars && line >= 0 && line < grid.lines;
    this.element.style.setProperty("cursor", inside ? "pointer" : "default");
    this.put(inside ? { line, bar } : null);
  }
  private press(): void {
    if (!this.cursor) return;
    const cell = this.cell(this.cursor.line, this.cursor.bar);
    if (cell.row_end - cell.row <= 1 && cell.column_end - cell.column <= 1) return this.actions.open(cell.row, cell.column);
    this.past.push(this.window);
    const columns = Math.max(1, Math.min(kCloserColumns, Math.floor((this.width - kNameWidth) / kLeastColumn)));
    this.window = closer(cell, this.window, columns);
    this.changed();
  }
  private back(): void {
    this.window = this.past.pop() ?? this.all;
    this.changed();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const grid = this.grid();
    const at = this.cursor ?? { line: 0, bar: 0 };
    const to = (line: number, bar: number): void =>
      this.put({ line: Math.max(0, Math.min(grid.lines - 1, line)), bar: Math.max(0, Math.min(grid.bars - 1, bar)) });
    const moves: Record<string, () => void> = {
      ArrowDown: () => to(at.line + 1, at.bar),
      ArrowUp: () => to(at.line - 1, at.bar),
      ArrowRight: () => to(at.line, at.bar + 1),
      ArrowLeft: () => to(at.line, at.bar - 1),
      Home: () => to(at.line, 0),
      End: () => to(at.line, grid.bars - 1),
      PageDown: () => to(at.line + 10, at.bar),
      PageUp: () => to(at.line - 10, at.bar),
      Enter: () => this.press(),
      Backspace: () => this.back(),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  }
}

const same = (a: HeatWindow, b: HeatWindow): boolean => a.row === b.row && a.row_end === b.row_end && a.column === b.column && a.column_end === b.column_end;

function within({ row, row_end, column, column_end }: HeatWindow, { rows, columns }: HeatData): HeatWindow {
  const [r, c] = [Math.max(0, Math.min(rows - 1, row)), Math.max(0, Math.min(columns - 1, column))];
  return { row: r, row_end: Math.max(r + 1, Math.min(rows, row_end)), column: c, column_end: Math.max(c + 1, Math.min(columns, column_end)) };
}

function cell_of({ window, per_row, per_column }: Grid, line: number, bar: number): HeatWindow {
  const [row, column] = [window.row + line * per_row, window.column + bar * per_column];
  return { row, row_end: Math.min(window.row_end, row + per_row), column, column_end: Math.min(window.column_end, column + per_column) };
}

// What is shown after a click on a cell that stands for several: as many rows and columns around it as can be drawn one by one.
function closer(cell: HeatWindow, from: HeatWindow, columns: number): HeatWindow {
  const around = (a: number, b: number, low: number, high: number, most: number): [number, number] => {
    if (b - a <= 1) return [low, high]; // they are one by one already
    const length = Math.min(high - low, most);
    const start = Math.max(low, Math.min(high - length, Math.floor((a + b - length) / 2)));
    return [start, start + length];
  };
  const [row, row_end] = around(cell.row, cell.row_end, from.row, from.row_end, kCloserRows);
  const [column, column_end] = around(cell.column, cell.column_end, from.column, from.column_end, columns);
  return { row, row_end, column, column_end };
}
