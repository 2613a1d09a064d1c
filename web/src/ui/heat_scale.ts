// The colours of a heat map: from the page's ground to one strong colour, so that light and dark both read "more is stronger".
type Rgb = [number, number, number];

function rgb(colour: string): Rgb {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour)?.[1] ?? [.../^#([0-9a-f]{3})$/i.exec(colour)?.[1] ?? "888"].map((each) => each + each).join("");
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

const kShades = 64; // as many as an eye tells apart in one map; few strings serve all cells
const kFaint = 0.06; // of the strong colour in what is not quite nothing

// Shades from nothing to all of it.
export function shades(ground: string, strong: string): string[] {
  const [from, to] = [rgb(ground), rgb(strong)];
  const mix = (share: number): string => `rgb(${from.map((each, i) => Math.round(each + (to[i]! - each) * share)).join(" ")})`;
  return Array.from({ length: kShades }, (_, i) => mix(i === 0 ? 0 : kFaint + ((1 - kFaint) * i) / (kShades - 1)));
}

// Which of the shades a value has, of those from 0 to `most`.
export function shade_at(value: number, most: number): number {
  if (!(value > 0) || !(most > 0)) return 0;
  return Math.max(1, Math.min(kShades - 1, Math.round((value / most) * (kShades - 1))));
}
