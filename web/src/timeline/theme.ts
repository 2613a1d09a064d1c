// The page's colours for canvases, read from the style sheet so that light and dark are said in one place.

export interface Theme {
  background: string;
  lane: string;
  text: string;
  muted: string;
  line: string;
  accent: string;
  group: string;
}

let kept: { key: string; theme: Theme } | null = null;

export function theme(): Theme {
  const key = document.documentElement.dataset.theme ?? "";
  if (kept?.key === key) return kept.theme;
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  kept = {
    key,
    theme: {
      background: of("--panel"),
      lane: of("--lane"),
      text: of("--text"),
      muted: of("--muted"),
      line: of("--line"),
      accent: of("--accent"),
      group: of("--group"),
    },
  };
  return kept.theme;
}

// A canvas as large as its box in device pixels, with a context that draws in css pixels.
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
