// copies: what was moved between host and devices, and set, by direction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"

namespace ridge {

struct CopyKind {
  std::string direction;       // HtoD, DtoH, DtoD, PtoP, HtoH; `set`; else the event's name
  std::optional<bool> pinned;  // the host side's memory; nothing where no host is involved or the trace does not say
  auto operator<=>(const CopyKind&) const = default;
};

// From an event's name: "Memcpy HtoD (Pageable -> Device)", "CopyHostToDevice", "Memset (Device)".
CopyKind copy_kind(std::string_view name, DeviceWork work);

struct CopyRow {
  CopyKind kind;
  std::int64_t device = 0;
  std::int64_t count = 0;
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> bytes;  // of the events that say; nothing when none does
  std::int64_t without_bytes = 0;     // events that do not say
  // Of the events that say both: a copy of 0 ns has no rate, and would lend its bytes to the others' time.
  std::int64_t timed_bytes = 0, timed_ns = 0;
};

struct Copies {
  std::vector<CopyRow> rows;  // most time first
  bool no_device_events = false;
};

Copies compute_copies(const Scope& scope);
Report report_copies(const Copies& copies);

}  // namespace ridge
