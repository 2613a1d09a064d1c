// The table's factor of the base time, then what the device and the user's own points change of it.
#include "predict/expected_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/lasting.h"
#include "base/try.h"
#include "predict/op_lines.h"

namespace ridge {
namespace {

// A device that was not measured reaches another share of its peaks: between GPUs of one vendor by up to half as much again.
constexpr double kOtherDevice = 1.5;
// Ops of a known kind that were not measured themselves.
constexpr double kOtherOp = 1.25;
constexpr std::size_t kNeighbours = 8;

bool same_device(const DeviceSpec& device, const ExpectedTable& table) { return device.name == table.device(); }

// Whether an op takes about as long as others of its kind that move as much. Gathers, sorts and pooling have kernels of their
// own each, and one says nothing of another.
bool ops_are_alike(std::string_view kind) {
  constexpr std::array<std::string_view, 7> kAlike = {"product", "pointwise", "copy",     "reduction",
                                                      "softmax", "optimizer", "attention"};
  return std::ranges::find(kAlike, kind) != kAlike.end() || kind.starts_with("triton");
}

std::string text_of(std::int64_t points, const ExpectedTable& table, const CallFeatures& call, bool op_known) {
  std::string text(call.kind);
  text += ", " + std::to_string(points) + " points of such a length on " + table.device();
  if (!op_known) text += "; " + std::string(call.op) + " itself was not measured";
  return text;
}

// Sizes differ by powers of two; types, layouts and names either agree or not.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return std::sqrt(sum);
}

// By the table alone.
std::optional<ExpectedTime> by_table(const CallFeatures& call, const DeviceSpec& device, std::string* why) {
  const ExpectedTable& table = ExpectedTable::built_in();
  if (call.kind.empty()) {
    *why = "no such op was measured, or its shapes are not told";
    return std::nullopt;
  }
  const auto base = base_time(call, device);
  static const auto& reference = lasting(find_device(table.device()));
  const auto at_reference = reference ? base_time(call, **reference) : std::nullopt;
  if (!base || !at_reference) {
    *why = "the device has no peak for such work";
    return std::nullopt;
  }
  const auto factor = table.factor(call, at_reference->ns());
  if (!factor) {
    *why = "no " + std::string(call.kind) + " was measured";
    return std::nullopt;
  }
  if (!factor->op_known && !ops_are_alike(call.kind)) {
    *why = "no " + call.op + " was measured";
    return std::nullopt;
  }
  ExpectedTime out;
  const double wider = (same_device(device, table) ? 1 : kOtherDevice) * (factor->op_known ? 1 : kOtherOp);
  out.ns = base->ns() * factor->factor;
  out.low_ns = base->ns() * factor->low / wider;
  out.high_ns = base->ns() * factor->high * wider;
  // Arithmetic has no cache to be faster from.
  if (call.reached == 1) out.low_ns = std::max(out.low_ns, std::min(base->compute_ns, out.ns));
  out.basis = text_of(factor->points, table, call, factor->op_known);
  double least = out.ns;
  for (const CallFeatures& less : call.lesser) {
    std::string not_said;
    if (const auto other = by_table(less, device, &not_said)) least = std::max(least, other->ns);
  }
  const double raised = least / out.ns;
  out.ns *= raised, out.low_ns *= raised, out.high_ns *= raised;
  return out;
}

// The parts one after the other. They are off by chance each, so that their distances add up as squares do.
std::optional<ExpectedTime> by_parts(const CallFeatures& call, const DeviceSpec& device, std::string* why) {
  ExpectedTime out;
  double below = 0, above = 0;
  for (const CallFeatures& part : call.parts) {
    const auto one = by_table(part, device, why);
    if (!one) return std::nullopt;
    out.ns += one->ns;
    below += (one->ns - one->low_ns) * (one->ns - one->low_ns);
    above += (one->high_ns - one->ns) * (one->high_ns - one->ns);
    out.basis += (out.basis.empty() ? "" : " + ") + one->basis;
  }
  out.low_ns = out.ns - std::sqrt(below);
  out.high_ns = out.ns + std::sqrt(above);
  return out;
}

}  // namespace

std::optional<ExpectedTime> expected_time(const CallFeatures& call, const DeviceSpec& device, const MeasuredPoints* measured,
                                          std::string* why) {
  auto found = call.parts.empty() ? by_table(call, device, why) : by_parts(call, device, why);
  if (!found) return std::nullopt;
  ExpectedTime& out = *found;
  if (!same_device(device, ExpectedTable::built_in())) out.basis += "; scaled by the peaks of " + device.name;
  if (measured == nullptr) return found;
  if (const auto own = measured->near(call)) {
    out.ns *= own->factor;
    out.low_ns = out.ns * own->low;
    out.high_ns = out.ns * own->high;
    out.basis += "; moved by " + std::to_string(own->points) + " measured points near it";
  }
  return found;
}

Result<MeasuredPoints> MeasuredPoints::read(std::string_view text, const std::string& where, const DeviceSpec& device) {
  TRY(const std::vector<OpLine> lines, read_op_lines(text, where));
  MeasuredPoints out;
  for (const OpLine& line : lines) {
    if (!line.warm_ns || !line.cold_ns || !(*line.warm_ns > 0) || !(*line.cold_ns > 0)) continue;
    const CallFeatures call = features_of_call(line.call, line.tf32.value_or(false),
                                               static_cast<double>(std::max<std::int64_t>(device.multiprocessors, 1)));
    std::string why;
    const auto said = expected_time(call, device, nullptr, &why);
    if (!said) continue;
    out.points_.push_back({std::string(call.kind), std::string(call.op), call.values,
                           std::log(std::sqrt(*line.warm_ns * *line.cold_ns) / said->ns)});
  }
  if (out.points_.empty())
    return fail(ErrorCode::usage, "no line holds a measured op", where,
                "ridge predict --calibrate prints the script that records them");
  return out;
}

std::optional<MeasuredPoints::Correction> MeasuredPoints::near(const CallFeatures& call) const {
  struct Near {
    double distance, log_ratio;
  };
  std::vector<Near> all;
  for (const Point& p : points_) {
    if (p.kind != call.kind) continue;
    all.push_back({distance(p.values, call.values) + (p.op == call.op ? 0 : 1), p.log_ratio});
  }
  if (all.empty()) return std::nullopt;
  const std::size_t count = std::min(kNeighbours, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(count), {}, &Near::distance);
  all.resize(count);
  double weights = 0, sum = 0;
  for (const Near& n : all) {
    const double weight = 1 / (0.25 + n.distance * n.distance);
    weights += weight;
    sum += weight * n.log_ratio;
  }
  const double mean = sum / weights;
  double square = 0;
  for (const Near& n : all) square += (n.log_ratio - mean) * (n.log_ratio - mean) / (0.25 + n.distance * n.distance);
  constexpr double kLeastSpread = 0.05, kOf80Percent = 1.28;
  const double spread = kOf80Percent * std::max(std::sqrt(square / weights), kLeastSpread);
  return Correction{std::exp(mean), std::exp(-spread), std::exp(spread), count};
}

}  // namespace ridge
