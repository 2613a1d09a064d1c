// The whole window in one strip: how busy host and devices were, and a brush on the part that is seen.
import type { Overview } from "../api/types";
import { el } from "../ui/dom";
import { is_stack } from "./alignment";
import type { State } from "./state";
import { prepare, theme } from "./theme";

export const kMinimapHeight = 52;
const kEdge = 6; // px around an end of the brush that grip it

type Grip = "from" | "to" | "middle" | "new";

export class Minimap {
  private readonly strips = el("canvas", { class: "tl-strips" });
  private readonly canvas = el("canvas", {
    class: "tl-minimap",
    role: "img",
    "aria-label": "Overview of the whole trace with the visible part marked",
  });
  readonly element = el("div", { class: "tl-overview" }, this.strips, this.canvas);
  private painted = ""; // what the strips were painted for
  private overview: Overview | null = null;
  private grip: Grip | null = null;
  private anchor = 0;

  constructor(
    private readonly state: State,
    private readonly moved: () => void,
  ) {
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.up(event));
  }

  show(overview: Overview): void {
    this.overview = overview;
    this.painted = "";
    this.draw();
  }

  // Only the brush moves with the view; the strips below it are painted when their size, colours or data change.
  draw(): void {
    const { view } = this.state;
    const key = `${view.width}/${window.devicePixelRatio}/${document.documentElement.dataset.theme}`;
    if (this.painted !== key) this.paint_strips(key);
    const context = prepare(this.canvas, view.width, kMinimapHeight);
    context.clearRect(0, 0, view.width, kMinimapHeight);
    this.brush(context);
  }

  private paint_strips(key: string): void {
    this.painted = key;
    const { view } = this.state;
    const context = prepare(this.strips, view.width, kMinimapHeight);
    context.fillStyle = theme().background;
    context.fillRect(0, 0, view.width, kMinimapHeight);
    const stack = is_stack(this.state.alignment); // of ranks the devices alone: they are many
    const rows = [this.overview, ...(this.overview?.below ?? [])].flatMap((overview) =>
      overview ? [...overview.devices.map(({ busy }) => ({ busy, colour: "#2f8fdb" })), ...(stack && overview.devices.length ? [] : [{ busy: overview.host, colour: "#8fa3b8" }])] : [],
    );
    const height = (kMinimapHeight - 8) / Math.max(1, rows.length);
    rows.forEach((row, i) => this.strip(context, row.busy, row.colour, 4 + i * height, height > 5 ? height - 2 : height * 0.8));
  }

  // Edges on whole pixels: between buckets of broken width there would be seams. A pixel shows the busiest bucket in it.
  private strip(context: CanvasRenderingContext2D, busy: number[], colour: string, y: number, height: number): void {
    const { width } = this.state.view;
    const edge = (i: number): number => Math.round((i * width) / Math.max(1, busy.length));
    context.fillStyle = theme().lane;
    context.fillRect(0, y, width, height);
    context.fillStyle = colour;
    for (let i = 0; i < busy.length; ++i) {
      const tall = Math.max(0.75, (busy[i]! / 255) * height);
      if (busy[i]! > 0) context.fillRect(edge(i), y + height - tall, Math.max(1, edge(i + 1) - edge(i)), tall);
    }
  }

  private brush(context: CanvasRenderingContext2D): void {
    const { view } = this.state;
    const a = this.x(Math.max(0, view.from));
    const b = Math.max(a + 3, this.x(Math.min(view.window_ns, view.to)));
    context.fillStyle = document.documentElement.dataset.theme === "dark" ? "rgb(0 0 0 / 0.32)" : "rgb(90 100 115 / 0.16)";
    context.fillRect(0, 0, a, kMinimapHeight);
    context.fillRect(b, 0, view.width - b, kMinimapHeight);
    context.strokeStyle = theme().accent;
    context.lineWidth = 1.5;
    context.strokeRect(a + 0.75, 1, b - a - 1.5, kMinimapHeight - 2);
  }

  private x(time: number): number {
    return (time / Math.max(1, this.state.view.window_ns)) * this.state.view.width;
  }
  private time(event: PointerEvent): number {
    return (event.offsetX / this.state.view.width) * this.state.view.window_ns;
  }

  private grip_at(x: number): Grip {
    const { view } = this.state;
    const a = this.x(view.from);
    const b = this.x(view.to);
    const whole = view.length >= view.window_ns * 0.98;
    if (Math.abs(x - a) < kEdge && !whole) return "from";
    if (Math.abs(x - b) < kEdge && !whole) return "to";
    return x > a && x < b && !whole ? "middle" : "new";
  }

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.grip = this.grip_at(event.offsetX);
    this.anchor = this.grip === "from" ? this.state.view.to : this.grip === "to" ? this.state.view.from : this.time(event);
  }

  private move(event: PointerEvent): void {
    if (!this.grip) {
      const cursors: Record<Grip, string> = { from: "ew-resize", to: "ew-resize", middle: "grab", new: "crosshair" };
      this.canvas.style.cursor = cursors[this.grip_at(event.offsetX)];
      return;
    }
    const now = this.time(event);
    const { view } = this.state;
    if (this.grip === "middle") {
      view.pan(now - this.anchor);
      this.anchor = now;
    } else if (Math.abs(now - this.anchor) * view.width > 3 * view.window_ns) {
      view.set(Math.min(now, this.anchor), Math.max(now, this.anchor));
    }
    this.moved();
  }

  private up(event: PointerEvent): void {
    const now = this.time(event);
    const { view } = this.state;
    if (this.grip === "new" && Math.abs(now - this.anchor) * view.width <= 3 * view.window_ns) {
      view.set(now - view.length / 2, now + view.length / 2); // a click centres
      this.moved();
    }
    this.grip = null;
  }
}
