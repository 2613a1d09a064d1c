// The flags that narrow a scope, read and checked, and what each of them leaves in.
#include "facts/scope.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include <re2/re2.h>

#include "base/try.h"
#include "base/units.h"

namespace ridge {
namespace {

Result<std::int64_t> integer(std::string_view name, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  return fail(ErrorCode::usage, "--" + std::string(name) + " takes an integer, not '" + std::string(text) + "'");
}

Result<double> number(std::string_view name, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && std::abs(value) < 1e12) return value;
  return fail(ErrorCode::usage, "--" + std::string(name) + " takes a number of milliseconds, not '" + std::string(text) + "'");
}

const std::string* find(const Arguments& arguments, std::string_view name) {
  const auto it = arguments.find(name);
  return it == arguments.end() ? nullptr : &it->second;
}

std::string range_text(const Iterations& iterations) {
  return "the trace has iterations " + std::to_string(iterations.list.front().number) + " to " +
         std::to_string(iterations.list.back().number);
}

// "A" or "A-B" to indexes of iterations.
Result<std::pair<std::size_t, std::size_t>> steps(const Iterations& iterations, const std::string& text) {
  if (iterations.list.empty()) return fail(ErrorCode::usage, "--step: the trace has no iterations");
  const std::size_t dash = text.find('-', 1);
  if (text.empty() || dash == text.size() - 1)
    return fail(ErrorCode::usage, "--step takes A or A-B, not '" + text + "'", "", range_text(iterations));
  TRY(const std::int64_t first, integer("step", std::string_view(text).substr(0, dash)));
  std::int64_t last = first;
  if (dash != std::string::npos) {
    TRY(last, integer("step", std::string_view(text).substr(dash + 1)));
  }
  const auto index_of = [&](std::int64_t wanted) {
    const auto it =
        std::find_if(iterations.list.begin(), iterations.list.end(), [&](const Iteration& i) { return i.number == wanted; });
    return static_cast<std::size_t>(it - iterations.list.begin());
  };
  if (first > last) {
    return fail(ErrorCode::usage, "--step " + text + " ends before it begins", "",
                "write --step " + std::to_string(last) + "-" + std::to_string(first));
  }
  const std::size_t from = index_of(first), to = index_of(last);
  if (from >= iterations.list.size() || to >= iterations.list.size() || from > to) {
    return fail(ErrorCode::usage, "there is no iteration '" + text + "'", "", range_text(iterations));
  }
  return std::pair(from, to);
}

// Where the iterations [first, last] are on the host, by track: in a process with marks of its own from its first to the one
// behind its last. Empty when all processes share `host`.
std::vector<TimeRange> host_windows(const Model& model, std::pair<std::size_t, std::size_t> steps, TimeRange host) {
  const Iterations& iterations = model.iterations();
  if (iterations.elsewhere.empty()) return {};
  std::vector<TimeRange> windows;
  for (const Track& track : model.trace().forms.tracks()) {
    TimeRange& window = windows.emplace_back(host);
    const auto own = iterations.elsewhere.find(track.pid);
    if (own == iterations.elsewhere.end()) continue;
    const auto begins = [&](std::size_t first) {
      for (const Iterations::Marked& marked : own->second) {
        if (marked.iteration >= first) return marked.host.start_ns;
      }
      return model.trace().window->end_ns;
    };
    window = {begins(steps.first), begins(steps.second + 1)};
  }
  return windows;
}

}  // namespace

Scope::Scope(const Model& model, std::shared_ptr<const CostModel> costs)
    : model_(&model),
      costs_(costs != nullptr ? std::move(costs) : std::make_shared<const CostModel>(model, CostOptions{})),
      idle_(std::make_shared<Retained<std::vector<DeviceIdle>>>()),
      window_(model.trace().window.value_or(TimeRange{})),
      host_(window_) {}

std::shared_ptr<const std::vector<DeviceIdle>> Scope::idle() const {
  return idle_->get([&] { return split_idle(*model_, window_); });
}

std::vector<std::size_t> Scope::iterations() const {
  std::vector<std::size_t> inside;
  const std::vector<Iteration>& list = model_->iterations().list;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (steps_ ? i >= steps_->first && i <= steps_->second
               : list[i].start_ns >= host_.start_ns && list[i].start_ns < host_.end_ns) {
      inside.push_back(i);
    }
  }
  return inside;
}

void Scope::narrow_to(std::pair<std::size_t, std::size_t> steps) {
  const std::vector<Iteration>& list = model_->iterations().list;
  steps_ = steps;
  // From the start of the first to the start of the one behind the last: what lies between belongs to the one before it.
  window_.start_ns = list[steps.first].begins_ns;
  host_.start_ns = list[steps.first].start_ns;
  if (steps.second + 1 < list.size()) {
    window_.end_ns = list[steps.second + 1].begins_ns;
    host_.end_ns = list[steps.second + 1].start_ns;
  }
  host_of_track_ = host_windows(*model_, steps, host_);
}

Scope Scope::of_whole_iterations() const {
  if (!by_time_) return *this;
  std::vector<std::size_t> inside;
  for (const std::size_t i : iterations()) {
    const TimeRange span = model_->iterations().list[i].span;
    if (span.start_ns >= window_.start_ns && span.end_ns <= window_.end_ns) inside.push_back(i);
  }
  if (inside.empty()) return *this;
  Scope narrow(*model_, costs_);
  narrow.device_ = device_;
  narrow.filter_ = filter_;
  narrow.narrow_to({inside.front(), inside.back()});
  return narrow;
}

Scope Scope::unfiltered() const {
  Scope all = *this;
  all.filter_ = nullptr;
  return all;
}

std::string_view Scope::filter_text() const { return filter_ == nullptr ? std::string_view() : filter_->pattern(); }

bool Scope::matches(std::string_view name) const {
  return filter_ == nullptr || RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *filter_);
}

bool Scope::holds(NodeId node) const {
  if (whole()) return true;
  const std::int64_t start = model_->tree().start_ns[node.value];
  const TimeRange host = host_of_track_.empty() ? host_ : host_of_track_[trace().track(model_->tree().event[node.value]).value];
  return start >= host.start_ns && start < host.end_ns;
}

bool Scope::holds_work(std::size_t row) const {
  if (whole()) return true;
  if (steps_ && model_->links().is_inherited(row)) return false;
  const NodeId launch = steps_ ? model_->links().launch[row] : kNoNode;
  if (launch != kNoNode) return holds(launch);
  const std::int64_t start = trace().events.ts_ns(trace().of(EventClass::device_work)[row]);
  return start >= host_.start_ns && start < host_.end_ns;
}

Result<std::int64_t> runs_argument(const Arguments& arguments) {
  const std::string* text = find(arguments, "runs");
  if (text == nullptr) return 0;
  TRY(const std::int64_t runs, integer("runs", *text));
  constexpr std::int64_t kMostRuns = 10'000'000;
  if (runs < 1 || runs > kMostRuns)
    return fail(ErrorCode::usage, "--runs takes a number from 1 to " + std::to_string(kMostRuns));
  return runs;
}

Result<Scope> make_scope(const Model& model, const Arguments& arguments, std::shared_ptr<const CostModel> costs) {
  Scope scope(model, std::move(costs));
  const std::int64_t origin = scope.window_.start_ns;
  if (const std::string* text = find(arguments, "gpu")) {
    TRY(scope.device_, integer("gpu", *text));
    const DeviceTimeline& timeline = model.timeline();
    if (timeline.find(*scope.device_) == nullptr && !timeline.devices.empty()) {
      std::string ids;
      for (const Device& device : timeline.devices) ids += (ids.empty() ? "" : ", ") + std::to_string(device.id);
      return fail(ErrorCode::usage, "the trace has no events of device " + *text, "", "its devices: " + ids);
    }
  }
  if (const std::string* text = find(arguments, "step")) {
    TRY(const auto range, steps(model.iterations(), *text));
    scope.narrow_to(range);
  }
  const auto milliseconds = [&](double ms) { return origin + static_cast<std::int64_t>(std::llround(ms * 1e6)); };
  if (const std::string* text = find(arguments, "from")) {
    TRY(const double ms, number("from", *text));
    scope.window_.start_ns = std::max(scope.window_.start_ns, milliseconds(ms));
    scope.host_.start_ns = std::max(scope.host_.start_ns, milliseconds(ms));
    for (TimeRange& host : scope.host_of_track_) host.start_ns = std::max(host.start_ns, milliseconds(ms));
    scope.by_time_ = true;
  }
  if (const std::string* text = find(arguments, "to")) {
    TRY(const double ms, number("to", *text));
    scope.window_.end_ns = std::min(scope.window_.end_ns, milliseconds(ms));
    scope.host_.end_ns = std::min(scope.host_.end_ns, milliseconds(ms));
    for (TimeRange& host : scope.host_of_track_) host.end_ns = std::min(host.end_ns, milliseconds(ms));
    scope.by_time_ = true;
  }
  const std::string *from = find(arguments, "from"), *to = find(arguments, "to");
  if (from != nullptr && to != nullptr && *number("from", *from) > *number("to", *to))
    return fail(ErrorCode::usage, "--from " + *from + " is after --to " + *to, "", "both are in ms from the window's start");
  const TimeRange whole = model.trace().window.value_or(TimeRange{});
  const auto behind = [&](const std::string* text) {
    return text != nullptr && milliseconds(*number("from", *text)) >= whole.end_ns;
  };
  if (whole.duration_ns() > 0 && behind(from)) {
    return fail(ErrorCode::usage, "--from " + *from + " is after the end of the window", "",
                "the window ends " + format_duration(static_cast<double>(whole.duration_ns())) + " after its start");
  }
  if (whole.duration_ns() > 0 && to != nullptr && milliseconds(*number("to", *to)) <= whole.start_ns)
    return fail(ErrorCode::usage, "--to " + *to + " is before the start of the window", "",
                "times are in ms from the window's start");
  // Each for itself holds something: a step, and a time before or after it.
  if (scope.steps_ && scope.by_time_ && scope.window_.end_ns <= scope.window_.start_ns &&
      scope.host_.end_ns <= scope.host_.start_ns) {
    Scope steps(model);
    steps.narrow_to(*scope.steps_);
    const auto since_start = [&](std::int64_t ns) { return format_duration(static_cast<double>(ns - origin)); };
    return fail(ErrorCode::usage, "--step " + *find(arguments, "step") + " is outside of --from and --to", "",
                "it lasts from " + since_start(steps.window_.start_ns) + " to " + since_start(steps.window_.end_ns));
  }
  if (scope.window_.end_ns < scope.window_.start_ns) scope.window_.end_ns = scope.window_.start_ns;
  if (const std::string* text = find(arguments, "filter")) {
    RE2::Options options;
    options.set_log_errors(false);
    auto filter = std::make_shared<const RE2>(*text, options);
    if (!filter->ok()) {
      return fail(ErrorCode::usage, "--filter is not a valid regular expression: " + filter->error(), "",
                  "escape ( ) [ ] . * + ? with a backslash");
    }
    scope.filter_ = std::move(filter);
  }
  return scope;
}

}  // namespace ridge
