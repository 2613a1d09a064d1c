// The curve of memory traffic, from the bytes that kernels are known to move.
#include <algorithm>

#include "timeline/state.h"

namespace ridge {
namespace {

void spread(double bytes, TimeRange time, TimeRange window, std::int64_t bucket_ns, std::vector<double>* buckets) {
  const double rate = bytes / static_cast<double>(time.duration_ns());
  const std::int64_t from = std::max(time.start_ns, window.start_ns), to = std::min(time.end_ns, window.end_ns);
  for (std::int64_t at = from; at < to;) {
    const std::int64_t bucket = (at - window.start_ns) / bucket_ns;
    const std::int64_t until = std::min(to, window.start_ns + (bucket + 1) * bucket_ns);
    (*buckets)[static_cast<std::size_t>(bucket)] += rate * static_cast<double>(until - at);
    at = until;
  }
}

BandwidthCurve bandwidth_of(const Device& device, const CostModel& costs, TimeRange window, std::int64_t bucket_ns) {
  BandwidthCurve curve{.device = device.id, .peak_bytes_per_s = {}, .known_pct = {}, .bytes_per_s = {}};
  const std::int64_t count = (window.duration_ns() + bucket_ns - 1) / bucket_ns;
  curve.bytes_per_s.resize(static_cast<std::size_t>(count));
  double known_ns = 0, all_ns = 0;
  for (const WorkRow& work : device.work) {
    if (work.sort != WorkSort::compute || work.end_ns <= work.start_ns) continue;
    const double time_ns = static_cast<double>(work.end_ns - work.start_ns);
    all_ns += time_ns;
    const LaunchCost& cost = costs[work.row];
    if (!cost.bytes_read || !cost.bytes_written) continue;
    known_ns += time_ns;
    spread(*cost.bytes_read + *cost.bytes_written, {work.start_ns, work.end_ns}, window, bucket_ns, &curve.bytes_per_s);
  }
  for (double& bytes : curve.bytes_per_s) bytes *= 1e9 / static_cast<double>(bucket_ns);
  if (all_ns > 0) curve.known_pct = 100 * known_ns / all_ns;
  const DeviceSpec* spec = costs.device(device.id);
  if (spec != nullptr && spec->bandwidth.known()) curve.peak_bytes_per_s = spec->bandwidth.high;
  return curve;
}

}  // namespace

Result<Bandwidth> Timeline::bandwidth(std::uint32_t px) const {
  const Threads::Use use(state_->threads.get());
  if (px < 1 || px > kMostPixels) return fail(ErrorCode::usage, "'px' must be 1 to 8192");
  const TimeRange window = state_->window();
  Bandwidth out;
  if (window.duration_ns() <= 0) return out;
  out.bucket_ns = (window.duration_ns() + px - 1) / px;
  for (const Device& device : state_->model.timeline().devices) {
    BandwidthCurve curve = bandwidth_of(device, *state_->costs, window, out.bucket_ns);
    if (curve.known_pct.value_or(0) > 0) out.devices.push_back(std::move(curve));
  }
  return out;
}

}  // namespace ridge
