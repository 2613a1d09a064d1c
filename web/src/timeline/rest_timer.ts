// Calls back once nothing has stirred for a while. Stirring is cheap: a frame that moves the view sets no timer, it only moves the end of the wait.

export class RestTimer {
  private timer = 0;
  private until = 0;

  constructor(
    private readonly wait_ms: number,
    private readonly rested: () => void,
  ) {}

  stir(): void {
    this.until = performance.now() + this.wait_ms;
    if (!this.timer) this.arm(this.wait_ms);
  }
  stop(): void {
    clearTimeout(this.timer);
    this.timer = 0;
  }

  private arm(wait_ms: number): void {
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      const left = this.until - performance.now();
      if (left > 1) this.arm(left);
      else this.rested();
    }, wait_ms);
  }
}
