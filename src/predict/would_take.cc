// Other forms of a call, and their expected times.
#include "predict/would_take.h"

#include <algorithm>

#include "predict/table_source.h"

namespace ridge {

WouldTake::WouldTake(const CostModel& costs) : costs_(costs) {}

bool WouldTake::is_measured(std::int64_t device) const {
  if (costs_.options().measured != nullptr) return true;
  const DeviceSpec* spec = costs_.device(device);
  return spec != nullptr && spec->name == ExpectedTable::built_in().device();
}

std::optional<ExpectedTime> WouldTake::of(const OpCall& call, bool tf32, std::int64_t device) {
  const DeviceSpec* spec = costs_.device(device);
  if (spec == nullptr) return std::nullopt;
  const KernelTable* table = table_of(costs_.options());
  if (table != nullptr && !tf32 &&
      table->is_of(*spec)) {  // with TF32 the same call is another kernel, which a table's row does not tell
    if (const auto measured = table->call(call)) return measured;
  }
  const auto [points, is_new] = points_.try_emplace(device);
  if (is_new && costs_.options().measured != nullptr) {
    if (auto read = MeasuredPoints::read(*costs_.options().measured, "--expected-file", *spec))
      points->second = std::move(*read);
  }
  constexpr double kMultiprocessors = 132;  // of a device that does not tell
  const double multiprocessors = spec->multiprocessors > 0 ? static_cast<double>(spec->multiprocessors) : kMultiprocessors;
  std::string why;
  return expected_time(features_of_call(call, tf32, multiprocessors, false), *spec, points->second ? &*points->second : nullptr,
                       &why);
}

std::optional<LeftOver> WouldTake::left_of(const ExpectedCall& ran, const OpCall& other, bool tf32) {
  if (ran.count == 0 || ran.time_ns <= 0) return std::nullopt;
  const auto then = of(other, tf32, ran.device);
  if (!then) return std::nullopt;
  const double mean = ran.time_ns / static_cast<double>(ran.count);
  double now = mean;
  if (!is_measured(ran.device)) {
    if (!ran.expected) return std::nullopt;
    now = ran.expected->ns;
  }
  if (now <= 0) return std::nullopt;
  const auto part = [&](double ns) { return std::clamp(ns / now, 0.0, 1.0); };
  return LeftOver{part(then->ns), part(then->low_ns), part(then->high_ns)};
}

OpCall contiguous(OpCall call) {
  for (OpArgument& argument : call.arguments) {
    argument.tensor.strides.clear();
    for (TensorShape& tensor : argument.list) tensor.strides.clear();
  }
  return call;
}

namespace {

// The dimension along which a tensor lies dense, of those with more than one element; nothing where it repeats itself or has
// fewer than two.
std::optional<std::size_t> innermost(const TensorShape& t) {
  std::optional<std::size_t> found;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < t.sizes.size(); ++i) {
    if (t.sizes[i] <= 1) continue;
    const bool told = t.strides.size() == t.sizes.size();
    if (told && t.strides[i] == 0) return std::nullopt;
    ++seen;
    if (!found || !told || t.strides[i] < t.strides[*found]) found = i;
  }
  return seen >= 2 ? found : std::nullopt;
}

}  // namespace

bool lies_across(const OpCall& call) {
  const TensorShape* first = nullptr;
  for (const OpArgument& argument : call.arguments) {
    if (argument.kind != OpArgument::Kind::tensor || !innermost(argument.tensor)) continue;
    if (first == nullptr) first = &argument.tensor;
    if (first->sizes == argument.tensor.sizes && innermost(*first) != innermost(argument.tensor)) return true;
  }
  return false;
}

OpCall channels_last(OpCall call) {
  for (OpArgument& argument : call.arguments) {
    TensorShape& t = argument.tensor;
    if (argument.kind != OpArgument::Kind::tensor || t.sizes.size() < 4) continue;
    t.strides.assign(t.sizes.size(), 1);
    std::int64_t at = t.sizes[1];
    for (std::size_t i = t.sizes.size(); i-- > 2;) {
      t.strides[i] = at;
      at *= std::max<std::int64_t>(1, t.sizes[i]);
    }
    t.strides[0] = at;
  }
  return call;
}

OpCall with_sizes(OpCall call, const std::map<std::int64_t, std::int64_t>& sizes) {
  for (OpArgument& argument : call.arguments) {
    TensorShape& t = argument.tensor;
    if (argument.kind != OpArgument::Kind::tensor) continue;
    std::vector<std::size_t> order(t.sizes.size());  // innermost first
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
    if (t.strides.size() == t.sizes.size())
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return t.strides[a] < t.strides[b]; });
    for (std::int64_t& size : t.sizes) {
      if (const auto other = sizes.find(size); other != sizes.end()) size = other->second;
    }
    if (t.strides.size() != t.sizes.size()) continue;
    std::int64_t at = 1;
    for (const std::size_t i : order) {
      if (t.strides[i] == 0) continue;  // broadcast
      t.strides[i] = at;
      at *= std::max<std::int64_t>(1, t.sizes[i]);
    }
  }
  return call;
}

}  // namespace ridge
