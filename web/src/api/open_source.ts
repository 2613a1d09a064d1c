// The choice of form: a page that holds its data (ridge report) asks itself, any other the server that it came from.
import { EmbeddedSource } from "./embedded";
import { HttpSource } from "./http";
import type { DataSource } from "./source";

export function open_source(): DataSource {
  const data = document.getElementById("ridge-data");
  return data ? new EmbeddedSource(data.textContent ?? "") : new HttpSource();
}
