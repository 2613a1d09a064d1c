// The table of changes, and how their texts are read.
#include "predict/changes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/dtype.h"
#include "base/nearest.h"
#include "device/device.h"
#include "predict/change_functions.h"

namespace ridge {
namespace {

using Value = ChangeKind::Value;

Result<void> check_dtype(std::string_view value) {
  if (item_bytes(parse_dtype(value)) > 0) return {};
  return fail(ErrorCode::usage, fmt::format("unknown dtype '{}'", value), "", "examples: bf16, fp16, fp8");
}
Result<void> check_device(std::string_view value) {
  const auto device = find_device(value);
  return device ? Result<void>() : tl::unexpected(device.error());
}

Result<void> check_batch(std::string_view value) {
  const bool none = value.find_first_of("123456789") == std::string_view::npos;
  return none ? fail(ErrorCode::usage, fmt::format("a batch of {} has no samples", value), "", "example: batch=2x")
              : Result<void>();
}

// In the order in which help lists them.
constexpr ChangeKind kChangeKinds[] = {
    {"kernel", "kernel:REGEX=TIME",
     "device work of that name takes 0.5x, +20us, 30us, or what the roof allows (roof) or such work takes (expected)", true,
     true, Value::time, nullptr, change_kernels},
    {"op", "op:REGEX=TIME",
     "ops and annotations of that name: 0.5x of host and kernels, +50us or 30us of host time, roof or expected", true, true,
     Value::time, nullptr, change_ops},
    {"host", "host=0.8x", "all host work takes 0.8 times as long", false, false, Value::factor, nullptr, change_host},
    {"cuda-graphs", "cuda-graphs", "what an iteration launches between two waits is one CUDA graph", false, false, Value::none,
     nullptr, change_to_cuda_graphs},
    {"no-sync", "no-sync[:REGEX]", "the host does not wait in these calls, or ops: cudaStreamSynchronize, aten::item", true,
     false, Value::none, nullptr, drop_host_waits},
    {"no-breaks", "no-breaks", "no graph breaks: the idle time that they cost", false, false, Value::none, nullptr,
     drop_breaks},
    {"no-dataloader", "no-dataloader", "the host never waits for the next batch", false, false, Value::none, nullptr,
     drop_dataloader},
    {"fuse", "fuse:REGEX", "kernels of that name that follow each other in a stream are one", true, true, Value::none, nullptr,
     fuse_kernels},
    {"dtype", "dtype=bf16", "float32 and float64 kernels compute in this dtype", false, false, Value::name, check_dtype,
     change_dtype},
    {"device", "device=NAME", "kernels run on this device, as far from its roof as here", false, false, Value::name,
     check_device, change_device},
    {"batch", "batch=2x", "a batch of twice the size: kernels beyond their launch floor, not the optimizer's", false, false,
     Value::factor, check_batch, change_batch},
};

tl::unexpected<Error> wrong(std::string_view text, std::string_view what) {
  std::string forms;
  for (const ChangeKind& kind : kChangeKinds) forms += fmt::format("{}{}", forms.empty() ? "" : ", ", kind.form);
  return fail(ErrorCode::usage, fmt::format("--do {}: {}", text, what), "", "one of: " + forms + ", finding:ID");
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<double> factor_of(std::string_view text) {
  if (!text.ends_with('x')) return std::nullopt;
  const auto factor = number_of(text.substr(0, text.size() - 1));
  constexpr double kMostTimes = 1e6;
  return factor && *factor >= 0 && *factor <= kMostTimes ? factor : std::nullopt;
}

std::optional<std::int64_t> ns_of(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (const auto& [unit, ns] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto amount = number_of(text.substr(0, text.size() - unit.size()));
    constexpr double kLongest = 6e10;  // a minute: no piece of a step takes that
    if (!amount || std::abs(*amount * ns) > kLongest) return std::nullopt;
    return std::lround(*amount * ns);
  }
  return std::nullopt;
}

std::optional<TimeChange> time_of(std::string_view text) {
  if (text == "roof") return TimeChange{TimeChange::To::roof};
  if (text == "expected") return TimeChange{TimeChange::To::expected};
  if (const auto factor = factor_of(text)) return TimeChange{TimeChange::To::relative, *factor, 0};
  if (text.starts_with('+')) {
    const auto ns = ns_of(text.substr(1));
    return ns ? std::optional(TimeChange{TimeChange::To::relative, 1, *ns}) : std::nullopt;
  }
  const auto ns = ns_of(text);
  if (!ns) return std::nullopt;
  return *ns < 0 ? TimeChange{TimeChange::To::relative, 1, *ns} : TimeChange{TimeChange::To::fixed, 1, *ns};
}

}  // namespace

std::int64_t TimeChange::of(std::int64_t time_ns) const {
  if (to == To::fixed) return ns;
  constexpr double kLongest = 1e17;
  const double scaled = std::min(static_cast<double>(time_ns) * factor, kLongest);
  return std::max<std::int64_t>(0, (factor == 1 ? time_ns : std::lround(scaled)) + ns);
}

std::span<const ChangeKind> change_kinds() { return kChangeKinds; }

Result<Change> parse_change(std::string_view text) {
  Change change{.text = std::string(text)};
  const std::string_view word = text.substr(0, text.find_first_of(":="));
  const auto* kind =
      std::find_if(std::begin(kChangeKinds), std::end(kChangeKinds), [&](const ChangeKind& k) { return k.name == word; });
  if (kind == std::end(kChangeKinds)) {
    std::vector<std::string_view> names;
    for (const ChangeKind& known : kChangeKinds) names.push_back(known.name);
    return wrong(text, fmt::format("no change is called '{}'. {}", word, did_you_mean(word, names)));
  }
  change.kind = kind;
  std::string_view rest = text.substr(word.size());
  if (kind->value != Value::none) {
    const std::size_t equals = rest.rfind('=');  // a regular expression may hold one
    if (equals == std::string_view::npos) return wrong(text, fmt::format("expected {}", kind->form));
    const std::string_view value = rest.substr(equals + 1);
    rest = rest.substr(0, equals);
    change.value = std::string(value);
    const auto time = kind->value == Value::factor ? [&] {
      const auto factor = factor_of(value);
      return factor ? std::optional(TimeChange{TimeChange::To::relative, *factor, 0}) : std::nullopt;
    }() : kind->value == Value::time ? time_of(value) : std::optional(TimeChange{});
    if (!time && kind->value == Value::factor) return wrong(text, fmt::format("'{}' is no factor, such as 0.8x", value));
    if (!time) return wrong(text, fmt::format("'{}' is no time: 0.5x, +20us, 30us (up to a minute), roof, expected", value));
    change.time = *time;
    if (kind->check != nullptr) {
      if (const auto checked = kind->check(value); !checked) return tl::unexpected(checked.error());
    }
  }
  if (!kind->takes_pattern) {
    if (!rest.empty()) return wrong(text, fmt::format("expected {}", kind->form));
    return change;
  }
  if (rest.empty() && !kind->needs_pattern) return change;
  if (rest.size() < 2 || rest.front() != ':') return wrong(text, fmt::format("expected {}", kind->form));
  auto pattern = std::make_shared<re2::RE2>(rest.substr(1), re2::RE2::Quiet);
  if (!pattern->ok()) return wrong(text, "not a regular expression: " + pattern->error());
  change.pattern = std::move(pattern);
  return change;
}

}  // namespace ridge
