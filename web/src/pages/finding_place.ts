// Where on the timeline a finding is to be seen. The analysis may name an event or a time by its columns' roles; if not, the largest mark
// of the finding's kind, or else the first name that its evidence holds, is the place.
import type { Cell, Mark, Table } from "../api/types";
import { range_link, row_link, search_link } from "../ui/links";
import { link } from "../ui/router";
import { Rows } from "../ui/rows";

const kKinds: [RegExp, Mark["kind"]][] = [
  [/break/, "break"],
  [/recompile/, "recompile"],
  [/sync/, "sync"],
  [/launch_bound|host_pause|dataloader|allocator|guard|tiny_kernels|compile/, "gap"],
];
const kName = /[A-Za-z_][\w.]*(?:::\w+)+|\b[a-z]+[A-Z]\w{3,}|\b\w*_\w{4,}\b|\b(?:cuda|cu|hip)[A-Z]\w+/;

export function finding_links(table: Table, marks: Mark[], t: number): (row: Cell[]) => string | null {
  const rows = new Rows(table);
  const by_role = row_link(
    { ...table, columns: table.columns.map((column) => ({ ...column, name: column.role ? column.name : `_${column.name}` })) },
    t,
  );
  return (row) =>
    by_role(row) ?? mark_link(rows.text(row, "id"), marks, t) ?? name_link(`${rows.text(row, "evidence")} ${rows.text(row, "finding")}`, t);
}

function mark_link(id: string, marks: Mark[], t: number): string | null {
  const kind = kKinds.find(([pattern]) => pattern.test(id))?.[1];
  const largest = marks.filter((mark) => mark.kind === kind).sort((a, b) => b.dur_ns - a.dur_ns)[0];
  if (!largest) return null;
  if (largest.id !== null) return link("timeline", { t: t || null, s: largest.id });
  return range_link(t, largest.start_ns, largest.start_ns + largest.dur_ns, {
    a: `${largest.start_ns}-${largest.start_ns + largest.dur_ns}`,
  });
}

function name_link(text: string, t: number): string | null {
  const name = kName.exec(text.slice(0, 2000))?.[0];
  return name ? search_link(t, name) : null;
}
