// Where on the timeline a finding is to be seen: the time that it claims, or else the slice that it blames most.
import type { Cell, Table } from "../api/types";
import { event_link } from "../ui/links";
import { link } from "../ui/router";
import { Rows } from "../ui/rows";

export function finding_links(table: Table, t: number, has_claim: (id: string) => boolean): (row: Cell[]) => string | null {
  const rows = new Rows(table);
  return (row) => {
    const [id, event] = [rows.text(row, "id"), rows.number(row, "event")];
    if (rows.number(row, "at_most_ns") && has_claim(id)) return link("timeline", { t: t || null, f: id });
    return event === null ? null : event_link(t, event);
  };
}
