// The part of time on the screen, and how it moves. Zoom keeps the time under the cursor where it is.

export interface Range {
  from: number;
  to: number;
}

const kLeast_ns = 20; // the closest look
const kBeyond = 0.02; // how far past either end of the window one may look, as a part of what is seen

export class View {
  from = 0;
  to: number;
  width = 1;

  constructor(readonly window_ns: number) {
    this.to = Math.max(1, window_ns);
  }

  get length(): number {
    return this.to - this.from;
  }
  get ns_per_px(): number {
    return this.length / this.width;
  }
  x(time: number): number {
    return (time - this.from) / this.ns_per_px;
  }
  time(x: number): number {
    return this.from + x * this.ns_per_px;
  }

  set(from: number, to: number): void {
    const whole = Math.max(1, this.window_ns);
    const length = Math.min(whole * (1 + 2 * kBeyond), Math.max(Math.min(kLeast_ns, whole), to - from));
    const beyond = length * kBeyond;
    const middle = (from + to) / 2;
    const start = Math.min(Math.max(middle - length / 2, -beyond), whole + beyond - length);
    this.from = Math.max(start, -beyond);
    this.to = this.from + length;
  }
  fit(): void {
    this.set(0, this.window_ns);
  }
  zoom(factor: number, around: number): void {
    const length = Math.max(kLeast_ns, this.length * factor);
    const part = (around - this.from) / this.length;
    this.set(around - part * length, around + (1 - part) * length);
  }
  pan(by_ns: number): void {
    this.set(this.from + by_ns, this.to + by_ns);
  }
  // The range with room on both sides.
  frame(from: number, to: number): void {
    const margin = Math.max((to - from) * 0.3, kLeast_ns);
    this.set(from - margin, to + margin);
  }
  // Moves as little as needed to see the range, zooming only if it is far too long or too short to be seen.
  show(from: number, to: number): void {
    const length = to - from;
    const context = Math.max(length * 8, kLeast_ns);
    if (length > this.length || length < this.length / 400) this.set(from - context, to + context);
    else if (from < this.from || to > this.to) this.set(from + length / 2 - this.length / 2, from + length / 2 + this.length / 2);
  }
}

// "100-900", as in URLs.
export function read_range(text: string | null): Range | null {
  const match = /^(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)$/.exec(text ?? "");
  if (!match) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return to >= from ? { from, to } : null;
}
