// The table of categories and that of phases.
#include "trace/event_class.h"

#include <algorithm>
#include <array>

namespace ridge {
namespace {

using enum EventClass;

constexpr CategoryRow kCategories[] = {
    {"cpu_op", op, DeviceWork::none, true},
    {"user_annotation", annotation, DeviceWork::none, true},
    {"python_function", python_frame, DeviceWork::none, true},
    {"cuda_runtime", launch, DeviceWork::none, true},
    {"cuda_driver", launch, DeviceWork::none, true},
    {"hip_runtime", launch, DeviceWork::none, true},
    {"hip_driver", launch, DeviceWork::none, true},
    {"xpu_runtime", launch, DeviceWork::none, true},
    {"xpu_driver", launch, DeviceWork::none, true},
    {"mtia_runtime", launch, DeviceWork::none, true},
    {"glow_runtime", launch, DeviceWork::none, true},
    {"privateuse1_runtime", launch, DeviceWork::none, true},
    {"privateuse1_driver", launch, DeviceWork::none, true},
    {"kernel", device_work, DeviceWork::kernel, false},
    {"gpu_memcpy", device_work, DeviceWork::copy, false},
    {"gpu_memset", device_work, DeviceWork::set, false},
    {"mtia_ccp_events", device_work, DeviceWork::other, false},
    {"hpu_op", device_work, DeviceWork::other, false},
    {"gpu_user_annotation", gpu_annotation, DeviceWork::none, false},
    {"cuda_sync", sync, DeviceWork::none, false},
    {"xpu_sync", sync, DeviceWork::none, false},
    {"cpu_instant_event", memory, DeviceWork::none, true},
    {"overhead", overhead, DeviceWork::none, false},
    {"Trace", span, DeviceWork::none, false},
    // Names of PyTorch before 1.12.
    {"Operator", op, DeviceWork::none, true},
    {"Runtime", launch, DeviceWork::none, true},
    {"Kernel", device_work, DeviceWork::kernel, false},
    {"Memcpy", device_work, DeviceWork::copy, false},
    {"Memset", device_work, DeviceWork::set, false},
};

struct PhaseRow {
  std::string_view ph;
  EventClass event_class;
  bool by_category;  // slices and instants: the category decides
};

constexpr PhaseRow kPhases[] = {
    {"X", other, true},  {"B", other, true},  {"E", other, true},    {"i", mark, true},      {"I", mark, true},
    {"n", other, false}, {"b", other, false}, {"e", other, false},   {"M", metadata, false}, {"s", flow, false},
    {"t", flow, false},  {"f", flow, false},  {"C", counter, false}, {"P", other, false},    {"N", other, false},
    {"O", other, false}, {"D", other, false}, {"v", other, false},   {"V", other, false},    {"R", mark, false},
    {"c", other, false}, {"(", other, false}, {")", other, false},   {"S", other, false},    {"T", other, false},
    {"p", other, false}, {"F", other, false},
};

const PhaseRow* find_phase(std::string_view ph) {
  const auto* row = std::find_if(std::begin(kPhases), std::end(kPhases), [&](const PhaseRow& r) { return r.ph == ph; });
  return row == std::end(kPhases) ? nullptr : row;
}

constexpr std::array<std::string_view, kEventClasses> kNames = {
    "op",       "annotation", "python_frame", "launch",  "device_work", "gpu_annotation", "sync", "memory",
    "overhead", "span",       "flow",         "counter", "metadata",    "mark",           "other"};

}  // namespace

std::string_view name_of(EventClass c) { return kNames[static_cast<std::size_t>(c)]; }

std::span<const CategoryRow> category_table() { return kCategories; }

const CategoryRow* find_category(std::string_view cat) {
  const auto* row =
      std::find_if(std::begin(kCategories), std::end(kCategories), [&](const CategoryRow& r) { return r.cat == cat; });
  return row == std::end(kCategories) ? nullptr : row;
}

EventClass classify(std::string_view ph, std::string_view cat) {
  const PhaseRow* phase = find_phase(ph);
  if (phase == nullptr) return other;
  if (!phase->by_category) return phase->event_class;
  const CategoryRow* row = find_category(cat);
  const bool instant = phase->event_class == mark;
  if (row == nullptr) return phase->event_class;
  // An instant is no slice of its category, but for [memory], which is one by nature.
  if (instant != (row->event_class == memory)) return instant ? mark : other;
  return row->event_class;
}

bool is_known_phase(std::string_view ph) { return find_phase(ph) != nullptr; }

}  // namespace ridge
