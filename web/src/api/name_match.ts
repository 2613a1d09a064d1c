// What the text of a search means, for names that the page has; the server reads it the same way (src/timeline/search.cc): a part of names in
// any case, "=…" exactly a name or, where it ends in an ellipsis, its beginning, "re:…" an expression.
import { matching_texts } from "./regex";

export const kRegexMark = "re:";
export const kExactMark = "=";
const kMore = "…";

// 1 for the names that match.
export async function matches_name(names: string[], text: string): Promise<Uint8Array> {
  if (text.startsWith(kRegexMark)) {
    const hits = new Uint8Array(names.length);
    for (const i of await matching_texts(text.slice(kRegexMark.length), "", names)) hits[i] = 1;
    return hits;
  }
  const wanted = plain_match(text);
  return Uint8Array.from(names, (name) => (wanted(name) ? 1 : 0));
}

// For texts that are no expression.
export function plain_match(text: string): (name: string) => boolean {
  if (text.startsWith(kExactMark)) {
    const name = text.slice(kExactMark.length);
    const begin = name.endsWith(kMore) ? name.slice(0, -kMore.length) : null;
    return (each) => each === name || (begin !== null && each.startsWith(begin));
  }
  const wanted = text.toLowerCase();
  return (each) => each.toLowerCase().includes(wanted);
}
