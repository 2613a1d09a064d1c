// Of work that starts at the same time of one device, what is alike in everything else.
#include "facts/recorded_twice.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

#include "base/units.h"
#include "facts/scoped_work.h"

namespace ridge {
namespace {

// What tells one piece of work from another of the same device and start.
struct Work {
  std::int64_t stream;
  std::int64_t end_ns;
  StringId name;
  NodeId launch;
  EventId event;

  auto key() const { return std::tuple(stream, end_ns, name.value, launch.value); }
};

// `together` starts at one time.
void add_copies(const Model& model, const std::vector<WorkRow>& together, std::vector<EventId>* copies) {
  const Trace& trace = model.trace();
  std::vector<Work> all;
  all.reserve(together.size());
  for (const WorkRow& work : together) {
    const EventId event = trace.of(EventClass::device_work)[work.row];
    all.push_back({work.stream, work.end_ns, trace.events.name(event), model.links().launch[work.row], event});
  }
  std::ranges::sort(all, {}, [](const Work& work) { return std::tuple(work.key(), work.event.value); });
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].key() == all[i - 1].key()) copies->push_back(all[i].event);
}

}  // namespace

std::vector<EventId> find_recorded_twice(const Scope& scope) {
  std::vector<EventId> copies;
  std::vector<WorkRow> together;
  const Device* of = nullptr;
  const auto settle = [&] {
    if (together.size() > 1) add_copies(scope.model(), together, &copies);
    together.clear();
  };
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    if (duration_ns(work) <= 0) return;
    if (&device != of || (!together.empty() && together.back().start_ns != work.start_ns)) settle();
    of = &device;
    together.push_back(work);
  });
  settle();
  return copies;
}

Diagnostic recorded_twice(std::size_t copies) {
  const auto count = static_cast<std::int64_t>(copies);
  return {std::string(kRecordedTwice), count,
          format_count(count) + (count == 1 ? " device event stands" : " device events stand") +
              " in the file more than once (the same name, launch, stream and time), and each counts: sums are too large, and "
              "means "
              "per iteration too small where its marks are there twice, too. Was the file joined with itself?",
          "warning"};
}

}  // namespace ridge
