// Changes against programs whose truth is known: a host that launches, waits and goes on, and streams that wait for each other,
// simulated at random, as recorded and with the change. What `whatif` tells from the trace alone is held against that.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "predict/changes.h"
#include "predict/what_if.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::LoadedTrace;
using test::TraceText;

constexpr std::int64_t kNsPerUs = 1'000;

struct Instruction {
  enum class Does : std::uint8_t { host, launch, record, wait, sync } does = Does::host;
  std::int64_t ns = 0;  // of the host; of a launch, of its kernel
  int stream = 7;
  int event = 0;         // recorded, or waited for
  bool product = false;  // which of two kernels
};

// What a program is changed to.
struct Altered {
  std::string change;
  double host = 1, products = 1;
  bool waits = true;
};

struct SimulatedProgram {
  std::vector<Instruction> step;
  std::int64_t way_ns = 4 * kNsPerUs;  // from a launch to its work

  // The time of so many steps, with the last work of the device; and their trace.
  std::int64_t run(int steps, const Altered& as, TraceText* text = nullptr) const {
    constexpr std::int64_t kCallNs = 5 * kNsPerUs, kEventNs = 1'500, kLeastWaitNs = 500, kWakeNs = 3 * kNsPerUs,
                           kGapNs = 1 * kNsPerUs;
    const auto of_host = [&](std::int64_t ns) { return static_cast<std::int64_t>(static_cast<double>(ns) * as.host); };
    std::int64_t now = 0, last = 0;
    int correlation = 0;
    std::map<int, std::int64_t> done, held;  // by stream
    std::map<int, std::int64_t> recorded;    // by event
    const auto call = [&](const char* name, std::int64_t ns) {
      if (text != nullptr) text->call(name, now, now + ns, ++correlation);
      now += ns;
    };
    for (int s = 0; s < steps; ++s) {
      const std::int64_t begin = now;
      for (const Instruction& each : step) {
        const auto free = done.find(each.stream);
        switch (each.does) {
          case Instruction::Does::host: now += of_host(each.ns); break;
          case Instruction::Does::launch: {
            const double factor = each.product ? as.products : 1;
            std::int64_t start = now + way_ns;
            if (free != done.end()) start = std::max(start, free->second + kGapNs);
            if (held.contains(each.stream)) start = std::max(start, held[each.stream] + kGapNs);
            held.erase(each.stream);
            const std::int64_t end = start + static_cast<std::int64_t>(static_cast<double>(each.ns) * factor);
            call("cudaLaunchKernel", of_host(kCallNs));
            if (text != nullptr) text->kernel(each.product ? "gemm" : "norm", start, end, correlation, each.stream);
            done[each.stream] = end;
            last = std::max(last, end);
            break;
          }
          case Instruction::Does::record:
            recorded[each.event] = std::max(free == done.end() ? 0 : free->second, held[each.stream]);
            call("cudaEventRecord", of_host(kEventNs));
            break;
          case Instruction::Does::wait:
            held[each.stream] = std::max(held[each.stream], recorded[each.event]);
            call("cudaStreamWaitEvent", of_host(kEventNs));
            break;
          case Instruction::Does::sync: {
            const std::int64_t until = free == done.end() || !as.waits ? 0 : free->second + kWakeNs;
            call("cudaStreamSynchronize", std::max(kLeastWaitNs, until - now));
            break;
          }
        }
      }
      if (text != nullptr) text->annotation("ProfilerStep#" + std::to_string(s), begin, now);
    }
    return std::max(now, last);
  }
};

SimulatedProgram random_program(std::mt19937& random, int streams) {
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto one_in = [&](int n) { return between(1, n) == 1; };
  using Does = Instruction::Does;
  SimulatedProgram program{.step = {}, .way_ns = one_in(2) ? 4 * kNsPerUs : between(10, 20) * kNsPerUs};
  const std::int64_t scale =
      between(1, 4) * between(1, 4);  // from programs that launch too slowly to those that wait for the device
  int stream = 7, events = 0;
  const auto follow = [&](int next) {
    program.step.push_back({.does = Does::record, .stream = stream, .event = ++events});
    program.step.push_back({.does = Does::wait, .stream = next, .event = events});
    stream = next;
  };
  for (auto left = between(4, 14); left > 0; --left) {
    if (streams > 1 && one_in(3)) follow(stream == 7 ? 20 : 7);
    program.step.push_back({.does = Does::host, .ns = between(3, 25) * kNsPerUs});
    program.step.push_back(
        {.does = Does::launch, .ns = between(2, 20) * scale * kNsPerUs, .stream = stream, .product = one_in(2)});
    if (one_in(6)) program.step.push_back({.does = Does::sync, .stream = stream});
  }
  if (stream != 7) follow(7);
  return program;
}

// By how many points of the step a saving is off: of the steps that were recorded, or of a program that goes on.
double points_off(const SimulatedProgram& program, const WhatIf& what_if, int steps, const Altered& altered) {
  const Altered plain;
  const auto pct = [](std::int64_t before, std::int64_t after) {
    return 100 * static_cast<double>(before - after) / static_cast<double>(before);
  };
  const auto goes_on = [&](const Altered& as) { return program.run(3 * steps, as) - program.run(steps, as); };
  const auto [low, high] =
      std::minmax({pct(program.run(steps, plain), program.run(steps, altered)), pct(goes_on(plain), goes_on(altered))});
  const std::vector<Change> changes = {parse_change(altered.change).value()};
  const Outcome outcome = what_if.outcome(changes);
  const double told = pct(what_if.base_ns(), outcome.step_ns.value_or(0));
  return std::max({0.0, low - told, told - high});
}

TEST(SimulatedPrograms, ChangesSaveWhatIsTold) {
  const Altered kAltered[] = {{.change = "kernel:gemm=0.3x", .products = 0.3},
                              {.change = "kernel:gemm=3x", .products = 3},
                              {.change = "host=0.5x", .host = 0.5},
                              {.change = "host=2x", .host = 2},
                              {.change = "no-sync", .waits = false}};
  constexpr int kPrograms = 120, kSteps = 6;
  std::mt19937 random(7);
  std::vector<double> off;
  for (int i = 0; i < kPrograms; ++i) {
    const SimulatedProgram program = random_program(random, 1 + i % 2);
    TraceText text;
    program.run(kSteps, {}, &text);
    const LoadedTrace loaded(text.read());
    const Scope scope(*loaded.model);
    const WhatIf what_if(scope, WhatIf::From::recorded);
    EXPECT_EQ(what_if.replayed_ns(), what_if.recorded_ns());
    for (const Altered& altered : kAltered) off.push_back(points_off(program, what_if, kSteps, altered));
  }
  std::ranges::sort(off);
  const auto at = [&](double share) { return off[static_cast<std::size_t>(share * static_cast<double>(off.size() - 1))]; };
  const auto within = [&](double points) {
    return 100 * static_cast<double>(std::ranges::upper_bound(off, points) - off.begin()) / static_cast<double>(off.size());
  };
  fmt::print(
      "figure: SimulatedPrograms.ChangesSaveWhatIsTold: points off: median {:.2f}, 90 % {:.2f}, worst {:.2f}; within 5: {:.1f} "
      "%\n",
      at(0.5), at(0.9), off.back(), within(5));
  EXPECT_LE(at(0.5), 0.5);
  EXPECT_GE(within(5), 99);
}

}  // namespace
}  // namespace ridge
