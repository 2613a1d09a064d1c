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
  key: Record<string, () => void>; // by name; "Ctrl+a" also stands for the Mac's command key
  selecting(): boolean;
}

const kDragFrom = 4; // px
const kModifiers = new Set(["Control", "Shift", "Alt", "Meta"]);
const kZoomPerSecond = 6; // factor while w or s is held
const kPanPerSecond = 900; // px while a or d is held

function place_on(element: HTMLElement, event: MouseEvent): [number, number] {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

export interface Dragging {
  start?(): void; // the pointer went far enough to mean a drag
  move(x: number, y: number): void;
  end(x: number, y: number, dragged: boolean): void;
}

// From a pressed button to its release: a drag, or a click if the pointer hardly moved.
export function follow_pointer(element: HTMLElement, pressed: PointerEvent, on: Dragging): void {
  const [x0, y0] = place_on(element, pressed);
  let dragging = false;
  const ended = new AbortController();
  const { signal } = ended;
  const move = (event: PointerEvent): void => {
    const [x, y] = place_on(element, event);
    if (!dragging && Math.hypot(x - x0, y - y0) < kDragFrom) return;
    if (!dragging) {
      dragging = true;
      element.setPointerCapture(pressed.pointerId);
      on.start?.();
    }
    on.move(x, y);
  };
  const up = (event: PointerEvent): void => {
    ended.abort();
    on.end(...place_on(element, event), dragging);
  };
  element.addEventListener("pointermove", move, { signal });
  element.addEventListener("pointerup", up, { signal });
  element.addEventListener("pointercancel", () => ended.abort(), { signal });
}

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
    stage.addEventListener("mousedown", (event) => event.button === 1 && event.preventDefault(), { signal }); // no scrolling by itself
    stage.addEventListener("pointerdown", (event) => this.down(event), { signal });
    stage.addEventListener("mousemove", (event) => this.hover(event), { signal });
    stage.addEventListener("mouseleave", () => actions.leave(), { signal });
    stage.addEventListener("dblclick", (event) => actions.open(...place_on(this.stage, event)), { signal });
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    document.addEventListener("keyup", (event) => this.held.delete(event.key.toLowerCase()), { signal });
    window.addEventListener("blur", () => this.held.clear(), { signal });
    signal.addEventListener("abort", () => this.held.clear()); // else a key held while the page is left would never be let go
  }

  private hover(event: MouseEvent): void {
    const [x, y] = place_on(this.stage, event);
    this.actions.hover(x, y, event);
  }

  private wheel(event: WheelEvent): void {
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.actions.zoom(Math.exp(event.deltaY * unit * 0.002), place_on(this.stage, event)[0]);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.actions.pan((event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX) * unit);
    } // else the box scrolls by itself
  }

  private down(event: PointerEvent): void {
    if (event.button > 1) return;
    const [x0, y0] = place_on(this.stage, event);
    const area = event.button === 0 && event.shiftKey !== this.actions.selecting(); // the middle button always moves
    let [last_x, last_y] = [x0, y0];
    follow_pointer(this.stage, event, {
      start: () => this.actions.drag_start(),
      move: (x, y) => {
        if (area) this.actions.area(x0, y0, x, y, false);
        else {
          this.actions.pan(last_x - x);
          this.actions.scroll(last_y - y);
        }
        [last_x, last_y] = [x, y];
      },
      end: (x, y, dragged) => {
        if (!dragged && event.button === 0) this.actions.click(x, y);
        else if (dragged && area) this.actions.area(x0, y0, x, y, true);
      },
    });
  }

  private key(event: KeyboardEvent): void {
    if (kModifiers.has(event.key)) return;
    const target = event.target as HTMLElement;
    if (event.altKey || target.closest("input, textarea, select, dialog[open]")) return;
    const plain = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const held = event.ctrlKey || event.metaKey;
    const key = held ? `Ctrl+${plain}` : event.shiftKey && plain.startsWith("Arrow") ? `Shift+${plain}` : plain;
    if (!held && "wasd".includes(key) && key.length === 1) {
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
