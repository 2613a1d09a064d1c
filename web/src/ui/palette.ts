// Colour by sort of work, the same on every page. Hues follow Okabe and Ito's set, which people of every colour vision tell apart;
// members of one family (Triton's kinds, the host's classes) differ in lightness, and every colour stands beside its name.

export interface Hue {
  h: number;
  s: number;
  l: number;
}

const kHues: Record<string, Hue> = {
  gemm: { h: 204, s: 90, l: 40 },
  conv: { h: 204, s: 75, l: 58 },
  attention: { h: 265, s: 50, l: 58 },
  norm: { h: 326, s: 45, l: 66 },
  elementwise: { h: 164, s: 85, l: 33 },
  reduction: { h: 150, s: 45, l: 52 },
  layout: { h: 54, s: 75, l: 48 },
  optimizer: { h: 20, s: 40, l: 42 },
  comm: { h: 8, s: 75, l: 50 },
  memcpy: { h: 215, s: 15, l: 48 },
  memset: { h: 215, s: 14, l: 66 },
  triton_pointwise: { h: 38, s: 92, l: 52 },
  triton_reduction: { h: 27, s: 88, l: 55 },
  triton_persistent_reduction: { h: 30, s: 75, l: 42 },
  triton_template: { h: 45, s: 90, l: 60 },
  triton_foreach: { h: 42, s: 60, l: 44 },
  triton_split_scan: { h: 33, s: 60, l: 66 },
  triton_user: { h: 48, s: 80, l: 40 },
  triton_other: { h: 36, s: 50, l: 58 },
  other: { h: 220, s: 8, l: 56 },
  // the host's classes
  cpu_op: { h: 210, s: 48, l: 66 },
  python_function: { h: 95, s: 22, l: 66 },
  nn_module: { h: 190, s: 38, l: 64 },
  user_annotation: { h: 265, s: 40, l: 72 },
  gpu_user_annotation: { h: 265, s: 30, l: 78 },
  cuda_runtime: { h: 22, s: 62, l: 66 },
  cuda_driver: { h: 12, s: 56, l: 66 },
  hip_runtime: { h: 22, s: 62, l: 66 },
  overhead: { h: 0, s: 0, l: 66 },
  cuda_sync: { h: 350, s: 60, l: 58 },
};

export function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < Math.min(text.length, 96); ++i) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return value >>> 0;
}

export function hue_of(category: string): Hue {
  return kHues[category] ?? { h: hash(category) % 360, s: 28, l: 62 };
}

export function colour_of(category: string): string {
  const { h, s, l } = hue_of(category);
  return `hsl(${h} ${s}% ${l}%)`;
}

// Why a device was idle, and the parts of its busy time.
const kCauses: Record<string, string> = {
  sync: "#c0397b",
  compile: "#8a7fd1",
  guards: "#b3a33a",
  allocator: "#cc79a7",
  dataloader: "#009e73",
  copy_wait: "#7ccfc0",
  launch: "#e69f00",
  recorder: "#e8d9b0",
  dependency: "#b98a5a",
  kernel_gap: "#7f8896",
  head_tail: "#a9b2be",
  unknown: "#5f6875",
  compute: "#0072b2",
  exposed_comm: "#d55e00",
  exposed_copy: "#56b4e9",
  idle: "#a9b2be",
};
const kSteps = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7fd1", "#b3a33a", "#7f8896"];
export const step_colour = (name: string, index: number): string => kCauses[name] ?? kSteps[index % kSteps.length]!;

// What the canvas draws with: for every (category, shade) a fill, a dim fill and the colour of text on it.
export interface Paint {
  fill: string;
  dim: string;
  text: string;
}

// Red, green and blue, 0 to 1. Canvases parse "#rrggbb" fastest.
function rgb({ h, s, l }: Hue): [number, number, number] {
  const chroma = (s / 100) * Math.min(l / 100, 1 - l / 100);
  const channel = (n: number): number => {
    const k = (n + h / 30) % 12;
    return l / 100 - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  };
  return [channel(0), channel(8), channel(4)];
}

const hex = (channels: number[]): string =>
  `#${channels
    .map((value) =>
      Math.round(255 * value)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;

// Relative luminance, 0 to 1: dark text reads better from about 0.2 on.
function luminance(channels: number[]): number {
  const [r, g, b] = channels.map((value) => (value <= 0.04 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

const kDim = 0.18;
const kShades = [-7, -3, 0, 4, 8];

export class Paints {
  private readonly index = new Map<string, number>();
  readonly all: Paint[] = [];

  // The index of the paint of a slice: hue by category, lightness by name, so that neighbours of one class stay apart.
  of(category: string, name: string): number {
    const shade = hash(name) % kShades.length;
    const sort = category === "python_function" && name.startsWith("nn.Module") ? "nn_module" : category;
    const key = `${sort}/${shade}`;
    let at = this.index.get(key);
    if (at === undefined) {
      const { h, s, l } = hue_of(sort);
      const light = Math.min(84, Math.max(26, l + kShades[shade]!));
      at = this.all.length;
      const channels = rgb({ h, s, l: light });
      this.all.push({ fill: hex(channels), dim: hex([...channels, kDim]), text: luminance(channels) > 0.2 ? "#10151c" : "#ffffff" });
      this.index.set(key, at);
    }
    return at;
  }
}
