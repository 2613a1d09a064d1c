// The calls inside an area as a flame graph, one tree below the whole: the tracks, what stands on them, what that encloses.
import type { Flame } from "../api/types";
import type { FlameTree } from "../ui/flame";

export function flame_tree(flame: Flame, track_name: (track: number) => string): FlameTree {
  const root: FlameTree = { name: "all tracks", note: "", total: 0, self: 0, calls: 0, children: [] };
  const nodes = flame.nodes.map(
    (node): FlameTree => ({
      name: node.parent === null ? track_name(node.track) : (node.name ?? ""),
      note: node.category ?? "",
      total: node.total_ns,
      self: node.self_ns,
      calls: node.count,
      children: [],
    }),
  );
  flame.nodes.forEach((node, i) => (node.parent === null ? root : nodes[node.parent]!).children.push(nodes[i]!));
  root.total = root.children.reduce((sum, child) => sum + child.total, 0);
  return root.children.length === 1 ? root.children[0]! : root;
}
