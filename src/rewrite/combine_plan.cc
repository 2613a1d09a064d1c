// The numbers of the combined trace, and its metadata.
#include "rewrite/combine_plan.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <ridge/json.h>

#include "base/try.h"
#include "ingest/scan.h"
#include "rewrite/event_members.h"

namespace ridge {
namespace {

Result<void> plan_ids(const std::vector<InputFacts>& inputs, CombinePlan* plan) {
  std::array<std::int64_t, kIdSpaces> next{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    plan->inputs[i].add = next;
    for (std::size_t space = 0; space < kIdSpaces; ++space) {
      const std::int64_t largest = inputs[i].largest[space];
      if (largest >= INT64_MAX - 1 - next[space]) {
        return fail(ErrorCode::too_large, "the ids of the inputs do not fit into 64 bits together", inputs[i].clock.name,
                    "one of them has ids that no profiler writes");
      }
      next[space] += largest + 1;
    }
  }
  return {};
}

// The first input keeps its numbers, but for a device that has two; those of the others follow, one after another.
Result<void> plan_devices(const std::vector<InputFacts>& inputs, CombinePlan* plan) {
  std::int64_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const std::int64_t device : inputs[i].devices) {
      const std::int64_t number = i == 0 ? device : next;
      if (number == INT64_MAX) return fail(ErrorCode::too_large, "no device numbers are left", inputs[i].clock.name);
      plan->inputs[i].devices[device] = number;
      next = number + 1;
    }
    for (const auto& [listed, device] : inputs[i].listed_as) plan->inputs[i].devices[listed] = plan->inputs[i].device(device);
  }
  return {};
}

// Gives every process of every input a pid of its own.
class PidPlanner {
 public:
  explicit PidPlanner(CombinePlan* plan) {
    for (const InputPlan& input : plan->inputs) {
      for (const auto& [from, to] : input.devices) devices_.insert(to);
    }
  }

  void add(const InputFacts& facts, InputPlan* plan) {
    for (const auto& [pid, process] : facts.pids) {
      if (process.is_device) {
        plan->pids[pid] = Pid{.number = plan->device(pid.number)};
      } else if (process.has_events) {
        plan->pids[pid] = free_pid(pid, plan->number);
        used_.insert(plan->pids[pid]);
      }
    }
    // Names of processes without events: Kineto writes those of sixteen devices. They may stand beside a device's own, which
    // they equal.
    for (const auto& [pid, process] : facts.pids) {
      if (process.is_device || process.has_events) continue;
      plan->pids[pid] = used_.contains(pid) ? free_pid(pid, plan->number) : pid;
    }
  }

 private:
  bool is_free(const Pid& pid) const { return !used_.contains(pid) && (pid.is_text || !devices_.contains(pid.number)); }

  Pid free_pid(const Pid& wanted, int input) {
    if (is_free(wanted)) return wanted;
    Pid pid = wanted;
    if (!pid.is_text) {
      do pid.number = next_++;
      while (!is_free(pid));
      return pid;
    }
    // A bare number would be read as another process's.
    pid.text += (pid.text.empty() ? "input " : " ") + std::to_string(input);
    while (!is_free(pid)) pid.text += "'";
    return pid;
  }

  std::set<Pid> used_;
  std::set<std::int64_t> devices_;
  std::int64_t next_ = 1'000'000;  // where no device and hardly a process of Linux is
};

// Times move to the clock of the job.
Result<void> plan_clocks(const std::vector<InputFacts>& inputs, CombinePlan* plan) {
  std::vector<TraceClock> traces;
  for (const InputFacts& facts : inputs) traces.push_back(facts.clock);
  TRY(plan->clocks, align_clocks(traces));
  for (std::size_t i = 0; i < inputs.size(); ++i) plan->inputs[i].add_ns = plan->clocks.add_ns[i];
  return {};
}

// The devices of one input, each with its new number.
std::string devices_with_new_ids(std::string raw, const InputPlan& plan) {
  const std::size_t size = raw.size();
  raw.append(kPadding, '\0');
  const char* const end = raw.data() + size;
  const char* p = skip_space(raw.data(), end);
  std::string out;
  EventMembers device;
  for (p = p < end ? p + 1 : end;;) {
    p = skip_space(p, end);
    if (p < end && *p == ',') p = skip_space(p + 1, end);
    if (p >= end || *p != '{' || !cut_members(p, end, &device)) return out;
    if (!out.empty()) out += ",\n    ";
    const char* copied = device.begin;
    for (const MemberPlace& member : device.members) {
      if (member.key != "id" || member.type != ValueType::number) continue;
      const auto id = std::strtoll(std::string(member.text()).c_str(), nullptr, 10);
      out.append(copied, member.value).append(std::to_string(plan.device(id)));
      copied = member.end;
    }
    out.append(copied, device.end);
    p = device.end;
  }
}

const std::string* find(const RawMembers& members, std::string_view key) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

constexpr std::string_view kDevices = "deviceProperties";
constexpr std::string_view kBaseTime = "baseTimeNanoseconds";
constexpr std::string_view kInputs = "ridge_combined";

bool is_own(std::string_view key) { return key == kDevices || key == kBaseTime || key == "traceEvents" || key == kInputs; }

bool agreed(const std::vector<InputFacts>& inputs, const std::string& key, const std::string& value) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const InputFacts& facts) {
    const std::string* own = find(facts.metadata, key);
    return own == nullptr || *own == value;
  });
}

// One input as the result remembers it: its name, how its numbers were changed, and its own metadata.
std::string described(const InputFacts& facts, const InputPlan& plan) {
  std::string out = "{\"trace\": ";
  append_json_string(out, facts.clock.name);
  out += ", \"added_to_times_ns\": " + std::to_string(plan.add_ns) + ", \"devices\": {";
  for (bool first = true; const auto& [from, to] : plan.devices) {
    out += (first ? "\"" : ", \"") + std::to_string(from) + "\": " + std::to_string(to);
    first = false;
  }
  out += "}, \"metadata\": {";
  for (bool first = true; const auto& [key, value] : facts.metadata) {
    if (key == "traceEvents" || key == kDevices || !is_valid_json("\"" + key + "\"") || !is_valid_json(value)) continue;
    out += (first ? "\"" : ", \"") + key + "\": " + value;
    first = false;
  }
  return out + "}}";
}

}  // namespace

Result<CombinePlan> plan_combination(const std::vector<InputFacts>& inputs) {
  CombinePlan plan;
  plan.inputs.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) plan.inputs[i].number = static_cast<int>(i) + 1;
  if (auto done = plan_ids(inputs, &plan); !done) return tl::unexpected(done.error());
  if (auto done = plan_devices(inputs, &plan); !done) return tl::unexpected(done.error());
  if (auto done = plan_clocks(inputs, &plan); !done) return tl::unexpected(done.error());
  PidPlanner pids(&plan);
  for (std::size_t i = 0; i < inputs.size(); ++i) pids.add(inputs[i], &plan.inputs[i]);
  return plan;
}

RawMembers combined_metadata(const std::vector<InputFacts>& inputs, const CombinePlan& plan) {
  RawMembers all;
  for (const InputFacts& facts : inputs) {
    for (const auto& [key, value] : facts.metadata) {
      if (!is_own(key) && find(all, key) == nullptr && agreed(inputs, key, value)) all.emplace_back(key, value);
    }
  }
  std::string devices, descriptions;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string* raw = find(inputs[i].metadata, kDevices);
    const std::string own = raw != nullptr && is_valid_json(*raw) ? devices_with_new_ids(*raw, plan.inputs[i]) : "";
    if (!own.empty()) devices += (devices.empty() ? "" : ",\n    ") + own;
    descriptions += (i == 0 ? "\n    " : ",\n    ") + described(inputs[i], plan.inputs[i]);
  }
  all.emplace_back(kDevices, "[\n    " + devices + "\n  ]");
  if (plan.clocks.base_time_ns) all.emplace_back(kBaseTime, std::to_string(*plan.clocks.base_time_ns));
  all.emplace_back(kInputs, "[" + descriptions + "\n  ]");
  return all;
}

}  // namespace ridge
