// The lists of id and device keys, and the largest value of each in a trace.
#include "rewrite/combine_facts.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "trace/args.h"

namespace ridge {
namespace {

constexpr IdKey kIdKeys[] = {
    {ArgKey::external_id, IdSpace::external, false, 1},
    {ArgKey::correlation, IdSpace::correlation, false, 1},
    {ArgKey::wait_on_cuda_event_record_corr_id, IdSpace::correlation, false, 1},
    {ArgKey::sequence_number, IdSpace::sequence, false, 0},
    {ArgKey::graph_id, IdSpace::graph, false, 1},
    {ArgKey::python_id, IdSpace::python, false, 0},
    {ArgKey::python_parent_id, IdSpace::python, false, 0},
    {ArgKey::id, IdSpace::flow, true, 0},
};

constexpr DeviceKey kDeviceKeys[] = {
    {EventClass::device_work, ArgKey::device},    {EventClass::gpu_annotation, ArgKey::device},
    {EventClass::sync, ArgKey::device},           {EventClass::device_work, ArgKey::from_device},
    {EventClass::device_work, ArgKey::to_device}, {EventClass::memory, ArgKey::device_id},
};

// The ids among the slots of one schema.
struct ShapeIds {
  std::vector<std::pair<const Slot*, const IdKey*>> ids;
};

std::vector<ShapeIds> ids_of_shapes(const Trace& trace) {
  std::vector<ShapeIds> all;
  for (const ArgSchema& schema : trace.forms.schemas()) {
    ShapeIds& ids = all.emplace_back();
    for (const Slot& slot : schema.slots) {
      for (const IdKey& key : kIdKeys) {
        if (key.member == slot.member && slot.key == id_of(key.key)) ids.ids.emplace_back(&slot, &key);
      }
    }
  }
  return all;
}

void find_largest(const Trace& trace, InputFacts* facts) {
  facts->largest.fill(-1);
  const std::vector<ShapeIds> schemas = ids_of_shapes(trace);
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const EventId event{i};
    for (const auto& [slot, key] : schemas[trace.forms.form(trace.events.form(event)).schema.value].ids) {
      const auto value = value_of(trace, *slot, trace.events.words(event)).as_integer();
      std::int64_t& largest = facts->largest[static_cast<std::size_t>(key->space)];
      if (value && *value >= key->lowest) largest = std::max(largest, *value);
    }
  }
}

void find_devices(const Trace& trace, InputFacts* facts, std::set<std::int64_t>* working) {
  const ArgColumn device_type(trace, ArgKey::device_type);
  for (const DeviceKey& row : kDeviceKeys) {
    const ArgColumn column(trace, row.key);
    for (const EventId event : trace.of(row.event_class)) {
      const auto device = column.integer(event);
      if (!device || *device < 0) continue;
      if (row.event_class == EventClass::memory && device_type.integer(event) == kHostDeviceType) continue;
      facts->devices.insert(*device);
      if (row.event_class == EventClass::device_work && row.key == ArgKey::device) working->insert(*device);
      const TrackPart& pid = trace.forms.track(trace.track(event)).pid;
      if (row.key == ArgKey::device && pid == TrackPart{TrackPart::Type::integer, *device})
        facts->pids[pid_of(trace, pid)].is_device = true;
    }
  }
}

// Work that names no device (MTIA's) is that of the device whose number is its pid, as the device timeline has it.
void find_devices_by_pid(const Trace& trace, InputFacts* facts, std::set<std::int64_t>* working) {
  const ArgColumn device(trace, ArgKey::device);
  std::set<TrackPart> processes;  // with ops: no devices
  for (const Form& form : trace.forms.forms()) {
    if (trace.forms.kinds()[form.kind.value].event_class == EventClass::op) processes.insert(trace.forms.track(form.track).pid);
  }
  for (const EventId event : trace.of(EventClass::device_work)) {
    const TrackPart& pid = trace.forms.track(trace.track(event)).pid;
    if (device.integer(event) || pid.type != TrackPart::Type::integer || pid.value < 0 || processes.contains(pid)) continue;
    facts->devices.insert(pid.value);
    working->insert(pid.value);
    facts->pids[pid_of(trace, pid)].is_device = true;
  }
}

// A process that sees one GPU lists it as device 0, and its memory events call it so, while its work may bear the number that
// the GPU has on the machine.
void find_listed_devices(const Trace& trace, const std::set<std::int64_t>& working, InputFacts* facts) {
  const std::vector<DeviceProperties>& rows = trace.metadata.devices;
  if (rows.size() == 1 && rows.front().id && working.size() == 1 && *rows.front().id != *working.begin()) {
    facts->listed_as[*rows.front().id] = *working.begin();
    facts->devices.erase(*rows.front().id);
    return;
  }
  for (const DeviceProperties& row : rows) {
    if (row.id && *row.id >= 0) facts->devices.insert(*row.id);
  }
}

void find_processes(const Trace& trace, InputFacts* facts) {
  std::vector<bool> has_events(trace.forms.tracks().size(), false);
  for (const Form& form : trace.forms.forms()) {
    if (trace.forms.kinds()[form.kind.value].event_class != EventClass::metadata) has_events[form.track.value] = true;
  }
  for (std::size_t i = 0; i < has_events.size(); ++i) {
    const TrackPart& pid = trace.forms.tracks()[i].pid;
    if (pid.type == TrackPart::Type::absent) continue;
    PidFacts& process = facts->pids[pid_of(trace, pid)];
    process.has_events = process.has_events || has_events[i];
  }
}

}  // namespace

std::span<const IdKey> id_keys() { return kIdKeys; }

std::span<const DeviceKey> device_keys() { return kDeviceKeys; }

Pid pid_of(const Trace& trace, const TrackPart& part) {
  if (part.type != TrackPart::Type::text) return {.number = part.value};
  return {.is_text = true, .text = std::string(trace.text(StringId{static_cast<std::uint32_t>(part.value)}))};
}

InputFacts facts_of(const Trace& trace) {
  InputFacts facts;
  facts.clock = clock_of(trace, std::filesystem::path(trace.path).filename().string());
  facts.metadata = trace.metadata.texts;
  find_largest(trace, &facts);
  std::set<std::int64_t> working;  // devices
  find_devices(trace, &facts, &working);
  find_devices_by_pid(trace, &facts, &working);
  find_listed_devices(trace, working, &facts);
  find_processes(trace, &facts);
  return facts;
}

}  // namespace ridge
