// The logarithmic axes of the roofline and of bandwidth, their grids, the roofs and their names. The dots are placed by roofline.ts.
import type { Cell } from "../api/types";
import { svg } from "../ui/dom";
import * as format from "../ui/format";

const kHeight = 460; // px, at least
const kMostHeight = 760;
const kLabelRoom = 190;
const kEdge = { left: 84, right: 24, top: 16, bottom: 44 };
const kRoofShapes = ["", "7 4", "2 3", "9 3 2 3", "4 4", "12 4"];

export interface Dot {
  kernel: string;
  label: string;
  x: number; // FLOP per byte, or ns per launch
  rate: number; // FLOP/s, or bytes/s
  time: number;
  row: Cell[];
}

// What an axis is called, and how its powers of ten are written.
export interface AxisNames {
  x: string;
  x_tick: (value: number, power: number) => string;
  y_tick: (value: number) => string;
}
export const kRooflineNames: AxisNames = {
  x: "FLOP per byte of memory traffic",
  x_tick: (value, power) => (power > -4 && power < 5 ? String(Number(value.toPrecision(1))) : `1e${power}`),
  y_tick: (value) => format.scaled(value, "flop_per_s", 1),
};
export const kBandwidthNames: AxisNames = {
  x: "time per launch",
  x_tick: (value) => format.time(value).replace(/\.0+(?= )/, ""),
  y_tick: (value) => format.scaled(value, "bytes_per_s", 1),
};

export interface Roof {
  name: string;
  device: string;
  peak: number;
  bandwidth: number;
}

export class Axes {
  readonly x0: number;
  readonly x1: number;
  readonly y0: number;
  readonly y1: number;
  readonly height: number;

  // Far enough for all of these.
  constructor(
    xs: number[],
    ys: number[],
    readonly width: number,
    tall = 1, // of the usual height
  ) {
    this.height = Math.round(Math.min(kMostHeight, Math.max(kHeight, width * 0.36)) * tall);
    this.x0 = Math.floor(Math.log10(Math.min(...xs)));
    this.x1 = Math.ceil(Math.log10(Math.max(...xs)) * 2) / 2;
    this.y0 = Math.floor(Math.log10(Math.min(...ys)) * 2) / 2;
    this.y1 = Math.ceil(Math.log10(Math.max(...ys)) * 4) / 4;
  }
  get left(): number {
    return kEdge.left;
  }
  get right(): number {
    return this.width - kEdge.right;
  }
  x(value: number): number {
    return kEdge.left + ((Math.log10(value) - this.x0) / Math.max(0.1, this.x1 - this.x0)) * (this.width - kEdge.left - kEdge.right);
  }
  y(value: number): number {
    return (
      this.height - kEdge.bottom - ((Math.log10(value) - this.y0) / Math.max(0.1, this.y1 - this.y0)) * (this.height - kEdge.top - kEdge.bottom)
    );
  }
}

export function roofline_axes(dots: Dot[], roofs: Roof[], width: number): Axes {
  const ridges = roofs.map((roof) => roof.peak / roof.bandwidth);
  const xs = [...dots.map((dot) => dot.x), ...ridges.flatMap((ridge) => [ridge * 3, ridge / 30]), 1, 10];
  const ys = [...dots.map((dot) => dot.rate), ...roofs.flatMap((roof) => [roof.peak * 1.4, roof.peak / 300]), 1e12];
  return new Axes(xs, ys, width);
}
export function bandwidth_axes(dots: Dot[], bandwidths: number[], width: number): Axes {
  const ys = [...dots.map((dot) => dot.rate), ...bandwidths.flatMap((each) => [each * 1.4, each / 100])];
  return new Axes([...dots.flatMap((dot) => [dot.x * 0.8, dot.x * 1.25])], ys, width, 0.7);
}

// The line of a memory's bandwidth over the whole width.
export function bandwidth_line(bandwidth: number, axes: Axes): SVGElement[] {
  const y = axes.y(bandwidth);
  return [
    svg("path", { class: "roof-line", d: `M${axes.left},${y}H${axes.right}` }),
    svg("text", { class: "roof-name", x: axes.left + 8, y: y - 6 }, `memory bandwidth ${format.scaled(bandwidth, "bytes_per_s", 3)}`),
  ];
}

export function grid(axes: Axes, names: AxisNames): SVGElement[] {
  const parts: SVGElement[] = [];
  for (let power = Math.ceil(axes.x0); power <= axes.x1; ++power) {
    const x = axes.x(10 ** power);
    parts.push(
      svg("line", { class: "grid", x1: x, x2: x, y1: kEdge.top, y2: axes.height - kEdge.bottom }),
      svg(
        "text",
        { class: "tick", x, y: axes.height - kEdge.bottom + 16, "text-anchor": "middle" },
        names.x_tick(10 ** power, power),
      ),
    );
  }
  for (let power = Math.ceil(axes.y0); power <= axes.y1; ++power) {
    const y = axes.y(10 ** power);
    parts.push(
      svg("line", { class: "grid", x1: kEdge.left, x2: axes.width - kEdge.right, y1: y, y2: y }),
      svg("text", { class: "tick", x: kEdge.left - 8, y: y + 4, "text-anchor": "end" }, names.y_tick(10 ** power)),
    );
  }
  parts.push(
    svg(
      "text",
      { class: "axis-name", x: (axes.width + kEdge.left) / 2, y: axes.height - 8, "text-anchor": "middle" },
      names.x,
    ),
  );
  return parts;
}

export function roof_line(roof: Roof, i: number, axes: Axes, label_y: number): { line: SVGElement; name: SVGElement } {
  const ridge = roof.peak / roof.bandwidth;
  const left = Math.max(10 ** axes.x0, 10 ** axes.y0 / roof.bandwidth);
  const path = `M${axes.x(left)},${axes.y(left * roof.bandwidth)}L${axes.x(ridge)},${axes.y(roof.peak)}H${axes.width - kEdge.right}`;
  const name = `${roof.name} ${format.scaled(roof.peak, "flop_per_s", 3)}`;
  return {
    line: svg("path", { class: "roof-line", d: path, "stroke-dasharray": kRoofShapes[i % kRoofShapes.length]! }),
    name: svg("text", { class: "roof-name", ...label_place(axes.x(ridge)), y: label_y }, name),
  };
}

// Left of the ridge and above the slope, where no kernel can be; behind it when there is no room.
const label_place = (ridge_x: number): { x: number; "text-anchor": string } =>
  ridge_x > kEdge.left + kLabelRoom ? { x: ridge_x - 8, "text-anchor": "end" } : { x: ridge_x + 8, "text-anchor": "start" };

// What the slope is: along it, near its left end. Roofs of one device share it.
export function slope_names(roofs: Roof[], axes: Axes): SVGElement[] {
  return [...new Set(roofs.map((roof) => roof.bandwidth))].map((bandwidth) => {
    const left = Math.max(10 ** axes.x0, 10 ** axes.y0 / bandwidth);
    const [x0, y0, x1, y1] = [axes.x(left), axes.y(left * bandwidth), axes.x(left * 10), axes.y(left * 10 * bandwidth)];
    const turned = (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI;
    const place = { x: 14, y: -7, transform: `translate(${x0} ${y0}) rotate(${turned})` };
    return svg("text", { class: "roof-name", ...place }, `memory ${format.scaled(bandwidth, "bytes_per_s", 3)}`);
  });
}

// Names of roofs that would overlap are moved apart, the higher one up.
export function label_places(roofs: Roof[], axes: Axes): number[] {
  const places: number[] = [];
  let last = -Infinity;
  for (const roof of roofs) {
    const y = Math.max(axes.y(roof.peak) - 5, last + 13);
    places.push(y);
    last = y;
  }
  return places;
}
