// What can be told only when all events are in: B/E pairs become slices, tracks get their names, and the window of time is
// found.
#pragma once

#include "ingest/class_lists.h"
#include "trace/trace.h"

namespace ridge {

bool pair_begins_and_ends(Trace* trace);  // whether there are any, so that durations have changed
void name_tracks(Trace* trace);
void find_window(Trace* trace, const Extent& activity);
Extent extent_of(const Trace& trace, std::span<const EventClass> classes);  // in a pass over their events

}  // namespace ridge
