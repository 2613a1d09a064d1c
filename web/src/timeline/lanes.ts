// Where each track stands: groups and tracks from top to bottom, pinned ones above all and always in sight.
import type { Track, TrackGroup } from "../api/types";
import { kCounterHeight } from "./counters";

export const kRow = 18; // height of one depth
export const kPad = 4; // below a track
export const kGroup = 26; // height of a group's head
const kCollapsed = 20;
const kMostFolds = 200; // a URL has an end

export interface LaneBox {
  kind: "group" | "track";
  group: TrackGroup;
  track: Track | null;
  y: number; // from the top of its region
  height: number;
  row: number; // height of one depth
  rows: number; // depths drawn
  pinned: boolean;
  collapsed: boolean;
  key: string; // the same for the same track or group in every arrangement
  row_keys: string[]; // "track/depth" by depth, made when first drawn
}

export class Lanes {
  readonly pinned = new Set<number>();
  readonly collapsed = new Set<string>(); // "g:<group id>" or "t:<track id>"
  boxes: LaneBox[] = [];
  pinned_boxes: LaneBox[] = [];
  pinned_height = 0;
  height = 0; // of what scrolls
  version = 0; // changes with the places of the boxes
  filter = ""; // words that the names of a track and its group must hold, in any case and order; pinned tracks are shown whatever they are called
  shown: number; // tracks with slices that the filter lets through
  private readonly by_id = new Map<number, { group: TrackGroup; track: Track }>();

  constructor(readonly groups: TrackGroup[]) {
    for (const group of groups) for (const track of group.tracks) this.by_id.set(track.id, { group, track });
    this.shown = this.sliced.length;
    this.arrange();
  }

  find(track: number): Track | null {
    return this.by_id.get(track)?.track ?? null;
  }
  group_of(track: number): TrackGroup | null {
    return this.by_id.get(track)?.group ?? null;
  }
  get tracks(): Track[] {
    return this.groups.flatMap((group) => group.tracks);
  }
  // Those with slices: the others are counters.
  get sliced(): Track[] {
    return this.tracks.filter((track) => track.id >= 0);
  }

  find_tracks(filter: string): void {
    this.filter = filter;
    this.arrange();
  }
  // The tracks that a selection of "all" means: [] stands for every track of the trace.
  get chosen(): number[] {
    return this.filter ? this.boxes.concat(this.pinned_boxes).flatMap((box) => (box.track && box.track.id >= 0 ? [box.track.id] : [])) : [];
  }

  // The box of a track where it is seen: pinned first.
  box(track: number): LaneBox | null {
    return this.pinned_boxes.find((box) => box.track?.id === track) ?? this.boxes.find((box) => box.track?.id === track) ?? null;
  }

  toggle(key: string): void {
    if (!this.collapsed.delete(key)) this.collapsed.add(key);
    this.arrange();
  }
  pin(track: number): void {
    if (!this.pinned.delete(track)) this.pinned.add(track);
    this.arrange();
  }
  collapse_all(on: boolean): void {
    this.collapsed.clear();
    if (on) for (const track of this.tracks) this.collapsed.add(`t:${track.id}`);
    this.arrange();
  }
  // What is collapsed, for the URL: "all", or ids of tracks and groups between dots. What is beyond kMostFolds is left out.
  get folded(): string {
    const tracks = this.tracks;
    if (tracks.length && this.collapsed.size === tracks.length && tracks.every((track) => this.collapsed.has(`t:${track.id}`))) return "all";
    return [...this.collapsed]
      .slice(0, kMostFolds)
      .map((key) => key.slice(2))
      .join(".");
  }
  fold(text: string): void {
    const known = new Map<string, string>();
    for (const group of this.groups) {
      known.set(group.id, `g:${group.id}`);
      for (const track of group.tracks) known.set(String(track.id), `t:${track.id}`);
    }
    this.collapsed.clear();
    if (text === "all") for (const track of this.tracks) this.collapsed.add(`t:${track.id}`);
    else for (const id of text.split(".")) if (known.has(id)) this.collapsed.add(known.get(id)!);
    this.arrange();
  }
  // Opens whatever hides the track.
  reveal(track: number): void {
    const group = this.group_of(track);
    if (!group) return;
    if (!this.pinned.has(track) && !this.passes(group, this.find(track)!)) this.filter = "";
    this.collapsed.delete(`g:${group.id}`);
    this.arrange();
  }

  private words: string[] = [];
  private passes(group: TrackGroup, track: Track): boolean {
    if (!this.words.length) return true;
    const name = `${group.name} ${group.labels} ${track.name}`.toLowerCase();
    return this.words.every((word) => name.includes(word));
  }

  arrange(): void {
    this.version += 1;
    this.words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = 0;
    this.pinned_boxes = [];
    this.boxes = [];
    let y = 0;
    for (const id of this.pinned) {
      const found = this.by_id.get(id);
      if (!found) continue;
      const box = this.track_box(found.group, found.track, y, true);
      this.pinned_boxes.push(box);
      y += box.height;
    }
    this.pinned_height = y ? y + 3 : 0;
    y = 0;
    for (const group of this.groups) {
      const tracks = group.tracks.filter((track) => this.passes(group, track));
      this.shown += tracks.filter((track) => track.id >= 0).length;
      if (!tracks.length && this.words.length) continue;
      const closed = this.collapsed.has(`g:${group.id}`);
      const head = { row: 0, rows: 0, pinned: false, collapsed: closed, key: `g:${group.id}`, row_keys: [] };
      this.boxes.push({ kind: "group", group, track: null, y, height: kGroup, ...head });
      y += kGroup;
      if (closed) continue;
      for (const track of tracks) {
        const box = this.track_box(group, track, y, false);
        this.boxes.push(box);
        y += box.height;
      }
    }
    this.height = y + 8;
  }

  private track_box(group: TrackGroup, track: Track, y: number, pinned: boolean): LaneBox {
    const collapsed = this.collapsed.has(`t:${track.id}`);
    if (track.id < 0) {
      const height = collapsed ? kCollapsed : kCounterHeight;
      const key = `${pinned ? "p" : "t"}:${track.id}`;
      return { kind: "track", group, track, y, height: height + kPad, row: height, rows: 1, pinned, collapsed, key, row_keys: [] };
    }
    const depth = Math.max(1, track.depth);
    const row = collapsed ? Math.max(2, Math.min(kRow, Math.floor(kCollapsed / depth))) : kRow;
    const rows = collapsed ? Math.min(depth, Math.floor(kCollapsed / row)) : depth;
    const height = (collapsed ? Math.max(kCollapsed, rows * row) : rows * row) + kPad;
    const key = `${pinned ? "p" : "t"}:${track.id}`;
    return { kind: "track", group, track, y, height, row, rows, pinned, collapsed, key, row_keys: [] };
  }
}
