// A flame graph: width is time, what is called stands below its caller. A click makes a part the whole width; the trail above leads back.
import { button, el, fill, shorten } from "./dom";
import * as format from "./format";
import { hash } from "./palette";

export interface FlameTree {
  name: string;
  note: string; // shown behind the name, in brackets
  total: number; // ns
  self: number;
  calls: number;
  children: FlameTree[];
}

const kLeast = 0.15; // % of the width: narrower parts are not drawn
const kRowHeight = 22;

export function flame(root: FlameTree, label: string): HTMLElement {
  const box = el("div", { class: "flame", role: "tree", "aria-label": label });
  const trail = el("div", { class: "row muted" });
  const show = (top: FlameTree, above: FlameTree[]): void => {
    const parts: HTMLElement[] = [];
    let deepest = 0;
    const draw = (node: FlameTree, left: number, width: number, depth: number): void => {
      deepest = Math.max(deepest, depth);
      const title = `${node.name}${node.note ? ` [${node.note}]` : ""}\n${format.time(node.total)} total, ${format.time(node.self)} self, ${format.count(node.calls)} calls`;
      parts.push(
        button(width > 3 ? shorten(node.name, 120) : "", () => show(node, node === top ? above : [...above, top]), {
          class: "flame-cell",
          role: "treeitem",
          title,
          "aria-label": title,
          "aria-level": depth + 1,
          style: {
            left: `${left}%`,
            width: `calc(${width}% - 1px)`,
            top: `${depth * kRowHeight}px`,
            background: `hsl(${20 + (hash(node.name) % 40)} 80% ${62 + (hash(node.name) % 4) * 4}%)`,
          },
        }),
      );
      let x = left;
      const inside = Math.max(
        node.total,
        node.children.reduce((sum, child) => sum + child.total, 0),
      );
      for (const child of [...node.children].sort((a, b) => b.total - a.total)) {
        const part = inside > 0 ? (width * child.total) / inside : 0;
        if (part >= kLeast) draw(child, x, part, depth + 1);
        x += part;
      }
    };
    draw(top, 0, 100, 0);
    fill(box, ...parts);
    box.style.setProperty("height", `${(deepest + 1) * kRowHeight}px`);
    fill(
      trail,
      ...above.flatMap((node, i) => [
        button(shorten(node.name, 60), () => show(node, above.slice(0, i)), { class: "link" }),
        el("span", {}, "›"),
      ]),
      el("b", {}, shorten(top.name, 80)),
      ` ${format.time(top.total)} (${format.percent((100 * top.total) / Math.max(1, root.total))})`,
    );
  };
  show(root, []);
  return el("div", {}, trail, box);
}
