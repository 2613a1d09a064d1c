// What must be known of each input before inputs can be put into one trace: how far its numbers go, which devices and processes
// it has, its clock and its metadata. Small, so that only one trace is in memory at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "job/clocks.h"
#include "rewrite/event_list.h"
#include "trace/arg_key.h"
#include "trace/trace.h"

namespace ridge {

// Numbers that identify something within one trace and must not meet those of another. One row each in combine_facts.cc.
enum class IdSpace : std::uint8_t { external, correlation, sequence, graph, python, flow, count_ };
inline constexpr std::size_t kIdSpaces = static_cast<std::size_t>(IdSpace::count_);

struct IdKey {
  ArgKey key;
  IdSpace space;
  bool member;          // of the event itself, not of its args
  std::int64_t lowest;  // values below say "none" and stay
};
std::span<const IdKey> id_keys();

// Arguments that hold the number of a device. Those of memory events do so unless they are of the host.
struct DeviceKey {
  EventClass event_class;
  ArgKey key;
};
std::span<const DeviceKey> device_keys();
inline constexpr std::int64_t kHostDeviceType = 0;

// A pid as it stands: a number, or a text.
struct Pid {
  bool is_text = false;
  std::int64_t number = 0;
  std::string text = {};
  auto operator<=>(const Pid&) const = default;
};
Pid pid_of(const Trace& trace, const TrackPart& part);

struct PidFacts {
  bool has_events = false;  // other than metadata
  bool is_device = false;   // a device's tracks: its number is the device's
};

struct InputFacts {
  TraceClock clock;  // under the name of the file
  RawMembers metadata;
  std::array<std::int64_t, kIdSpaces> largest{};  // -1: none
  std::set<std::int64_t> devices;
  // Numbers that deviceProperties has for a device whose work bears another (model/device_properties.h): to that other one.
  std::map<std::int64_t, std::int64_t> listed_as;
  std::map<Pid, PidFacts> pids;
};

InputFacts facts_of(const Trace& trace);

}  // namespace ridge
