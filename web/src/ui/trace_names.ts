// Names of traces for narrow places: without the ending that says nothing, both ends kept, and no two alike.
import { shorten_middle } from "./dom";

const kEnding = /(\.pt)?(\.trace)?\.json(\.gz|\.zst)?$/;

export function short_names(names: string[], most: number): string[] {
  const bare = names.map((name) => name.replace(kEnding, "") || name);
  const kept = new Set(bare).size === new Set(names).size ? bare : names;
  const cut = kept.map((name) => shorten_middle(name, most));
  const alike = (text: string): boolean => cut.filter((each) => each === text).length > 1;
  return cut.map((text, i) => (alike(text) ? shorten_middle(`${i + 1}: ${kept[i]!}`, most) : text));
}
