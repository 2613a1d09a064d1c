// Keys, mouse and wheel of the timeline, turned into what they mean. Knows nothing of drawing.

export interface InputActions {
  zoom(factor: number, x: number | null): void; // x: px on the stage; null: where the mouse is
  pan(pixels: number): void;
  scroll(pixels: number): void;
  drag_start(): void;
  area(x0: number, y0: number, x1: number, y1: number, done: boolean): void;
  click(x: number, y: number): void;
  open(x: number, y: number): void;
  hover(x: number, y: number, event: MouseEvent): void;
  leave(): void;
  key: Record<string, () => void>; // single keys
  selecting(): boolean;
}

const kDragFrom = 4; // px
const kZoomPerSecond = 6; // factor while w or s is held
const kPanPerSecond = 900; // px while a or d is held

export class Input {
  private readonly held = new Set<string>();
  private running = false;
  private last = 0;

  constructor(
    private readonly stage: HTMLElement,
    private readonly actions: InputActions,
    signal: AbortSignal,
  ) {
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false, signal });
    stage.addEventListener("pointerdown", (event) => this.down(event), { signal });
    stage.addEventListener("mousemove", (event) => this.hover(event), { signal });
    stage.addEventListener("mouseleave", () => actions.leave(), { signal });
    stage.addEventListener("dblclick", (event) => actions.open(...this.place(event)), { signal });
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    document.addEventListener("keyup", (event) => this.held.delete(event.key.toLowerCase()), { signal });
    window.addEventListener("blur", () => this.held.clear(), { signal });
  }

  private place(event: MouseEvent): [number, number] {
    const box = this.stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private hover(event: MouseEvent): void {
    const [x, y] = this.place(event);
    this.actions.hover(x, y, event);
  }

  private wheel(event: WheelEvent): void {
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.actions.zoom(Math.exp(event.deltaY * unit * 0.002), this.place(event)[0]);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.actions.pan((event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX) * unit);
    } // else the box scrolls by itself
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const [x0, y0] = this.place(event);
    const area = event.shiftKey !== this.actions.selecting();
    let dragging = false;
    let [last_x, last_y] = [x0, y0];
    const ended = new AbortController();
    const move = (next: PointerEvent): void => {
      const [x, y] = this.place(next);
      if (!dragging && Math.hypot(x - x0, y - y0) < kDragFrom) return;
      if (!dragging) {
        dragging = true;
        this.stage.setPointerCapture(event.pointerId);
        this.actions.drag_start();
      }
      if (area) this.actions.area(x0, y0, x, y, false);
      else {
        this.actions.pan(last_x - x);
        this.actions.scroll(last_y - y);
      }
      [last_x, last_y] = [x, y];
    };
    const up = (next: PointerEvent): void => {
      ended.abort();
      const [x, y] = this.place(next);
      if (!dragging) this.actions.click(x, y);
      else if (area) this.actions.area(x0, y0, x, y, true);
    };
    this.stage.addEventListener("pointermove", move, { signal: ended.signal });
    this.stage.addEventListener("pointerup", up, { signal: ended.signal });
    this.stage.addEventListener("pointercancel", () => ended.abort(), { signal: ended.signal });
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, dialog[open]")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if ("wasd".includes(key) && key.length === 1) {
      event.preventDefault();
      if (this.held.has(key)) return;
      this.step(key, 0.06);
      this.held.add(key);
      this.run();
      return;
    }
    const action = this.actions.key[key];
    if (!action || (key === "Enter" && target.closest("button, a"))) return;
    event.preventDefault();
    action();
  }

  private step(key: string, seconds: number): void {
    if (key === "w") this.actions.zoom(kZoomPerSecond ** -(seconds * 1.5), null);
    if (key === "s") this.actions.zoom(kZoomPerSecond ** (seconds * 1.5), null);
    if (key === "a") this.actions.pan(-kPanPerSecond * seconds);
    if (key === "d") this.actions.pan(kPanPerSecond * seconds);
  }

  // While keys are held the view moves every frame.
  private run(): void {
    if (this.running) return;
    this.running = true;
    this.last = performance.now();
    const frame = (now: number): void => {
      const seconds = Math.min(0.05, (now - this.last) / 1000);
      this.last = now;
      for (const key of this.held) this.step(key, seconds);
      if (this.held.size) requestAnimationFrame(frame);
      else this.running = false;
    };
    requestAnimationFrame(frame);
  }
}
