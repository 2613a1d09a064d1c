// What can be told only when all events are in: B/E pairs become slices, tracks get their names, events are listed by class,
// and the window of time is found.
#pragma once

#include "trace/trace.h"

namespace ridge {

void pair_begins_and_ends(Trace* trace);
void list_by_class(Trace* trace);
void name_tracks(Trace* trace);  // needs the classes
void find_window(Trace* trace);  // needs the classes and the pairs

}  // namespace ridge
