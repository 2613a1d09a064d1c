// One counter per series of `memory` and `launches`, and one per device for bandwidth.
#include "counters.h"

#include <cmath>

#include <fmt/format.h>

#include <ridge/json.h>
#include <ridge/timeline.h>

namespace ridge::server {
namespace {

struct CounterSource {
  std::string_view analysis, group, unit;
};
constexpr CounterSource kSources[] = {{"memory", "memory", "bytes"}, {"launches", "queue", "count"}};

struct Counter {
  std::string name;
  std::string_view group, unit;
  std::optional<std::int64_t> device;
  std::optional<double> peak = {}, known_pct = {};
  std::vector<std::int64_t> at = {};
  std::vector<double> value = {};

  // Where it changes only.
  void add(std::int64_t time_ns, double now) {
    if (!value.empty() && value.back() == now) return;
    at.push_back(time_ns);
    value.push_back(now);
  }
};

std::optional<std::int64_t> last_number(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits >= name.size() || name.size() - digits > 9) return std::nullopt;
  return std::stoll(std::string(name.substr(digits)));
}

void add_series(const Site& site, std::size_t trace, const CounterSource& source, std::vector<Counter>* out) {
  const auto report = site.shelf().kept_report(source.analysis, {}, trace);
  if (!report) return;  // an analysis without an answer has no curve
  for (const Series& series : (*report)->series) {
    Counter counter{.name = series.name, .group = source.group, .unit = source.unit, .device = last_number(series.name)};
    for (const auto& [time_ns, value] : series.points) counter.add(time_ns, value);
    out->push_back(std::move(counter));
  }
}

void add_bandwidth(const Bandwidth& bandwidth, std::vector<Counter>* out) {
  for (const BandwidthCurve& curve : bandwidth.devices) {
    Counter counter{.name = fmt::format("bandwidth of device {}", curve.device),
                    .group = "bandwidth",
                    .unit = "bytes_per_s",
                    .device = curve.device,
                    .peak = curve.peak_bytes_per_s,
                    .known_pct = curve.known_pct};
    std::int64_t at = 0;
    for (const double value : curve.bytes_per_s) {
      counter.add(at, std::round(value / 1e6) * 1e6);  // more digits than anybody draws
      at += bandwidth.bucket_ns;
    }
    out->push_back(std::move(counter));
  }
}

}  // namespace

Result<std::string> counters_json(const Site& site, std::size_t trace, std::uint32_t px) {
  std::vector<Counter> counters;
  for (const CounterSource& source : kSources) add_series(site, trace, source, &counters);
  const auto timeline = site.shelf().timeline(trace, site.defaults());
  if (!timeline) return tl::unexpected(timeline.error());
  const auto bandwidth = (*timeline)->bandwidth(px);
  if (!bandwidth) return tl::unexpected(bandwidth.error());
  add_bandwidth(*bandwidth, &counters);
  JsonWriter out;
  out.object([&] {
    out.key("counters").array(counters, [&](const Counter& each) {
      out.record("name", each.name, "unit", each.unit, "group", each.group, "device", each.device, "peak", each.peak,
                 "known_pct", each.known_pct, "at", each.at, "value", each.value);
    });
  });
  return out.take();
}

}  // namespace ridge::server
