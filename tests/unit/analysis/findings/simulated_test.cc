// Bounds against programs whose mended form is known: a host and a device are simulated, once with a fault and once without,
// at random. What that really saves is never more than `at_most`.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::event;
using test::kUs;

constexpr std::string_view kPointwise = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>()";
constexpr std::string_view kSum = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()";
constexpr std::string_view kToHalf =
    "void at::native::unrolled_elementwise_kernel<at::native::bfloat16_copy_kernel_cuda<float>>()";

// What a program does next: the host's own code, an op with a call in it, and the device's work that the call starts.
struct SimulatedOp {
  std::string name = "aten::linear";
  std::string call = "cudaLaunchKernel";
  std::string kernel = "sm80_xmma_gemm_f32f32_f32f32";
  int before_us = 0;  // of Python
  int host_us = 20;
  int device_us = 20;  // 0: launches nothing
  bool waits = false;  // in the call, for all that the device has got
  std::string args = {};
  std::string around = {};  // an annotation from the first op of that name to the last
};
using SimulatedStep = std::vector<SimulatedOp>;

class Simulation {
 public:
  Simulation(const SimulatedStep& step, int steps) {
    for (int s = 0; s < steps; ++s) {
      const int from = host_;
      for (const SimulatedOp& op : step) run(op);
      end_annotation();
      add(event({.name = fmt::format("ProfilerStep#{}", s + 1), .ts = from, .dur = host_ - from, .cat = "user_annotation"}));
      ends_.push_back(std::max(host_, device_));
      ++host_;
    }
  }
  // Once it goes on.
  double step_us() const { return static_cast<double>(ends_.back() - ends_.front()) / static_cast<double>(ends_.size() - 1); }
  const std::string& events() const { return events_; }

 private:
  void add(const std::string& text) { events_ += (events_.empty() ? "" : ", ") + text; }

  void run(const SimulatedOp& op) {
    if (op.around != around_) {
      end_annotation();
      around_ = op.around;
      around_from_ = host_;
    }
    host_ += op.before_us;
    const int from = host_, call = from + op.host_us / 2;
    int call_end = from + op.host_us - 1;
    ++id_;
    if (op.device_us > 0) {
      const int start = std::max(device_, call + 4);
      device_ = start + op.device_us;
      const bool copies = op.kernel.starts_with("Memcpy");
      add(event({.name = op.kernel,
                 .ts = start,
                 .dur = op.device_us,
                 .cat = copies ? "gpu_memcpy" : "kernel",
                 .args = fmt::format(R"("correlation": {}, "device": 0, "stream": 7, "bytes": 40000000)", id_),
                 .tid = 7}));
    }
    if (op.waits) call_end = std::max(call_end, device_ + 1);
    host_ = call_end + 1;
    if (!op.name.empty()) add(event({.name = op.name, .ts = from, .dur = host_ - from, .args = op.args}));
    if (!op.call.empty())
      add(event({.name = op.call,
                 .ts = call,
                 .dur = call_end - call,
                 .cat = "cuda_runtime",
                 .args = fmt::format(R"("correlation": {})", id_)}));
    ++host_;
  }
  void end_annotation() {
    if (!around_.empty())
      add(event({.name = around_, .ts = around_from_, .dur = host_ - around_from_, .cat = "user_annotation"}));
    around_.clear();
  }

  std::string events_, around_;
  int host_ = 100, device_ = 0, id_ = 0, around_from_ = 0;
  std::vector<int> ends_;
};

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int of(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

 private:
  std::mt19937 engine_;
};

// A model's own work: between a host that is far ahead and one that is far behind.
SimulatedStep layers(Dice* dice, int count) {
  const int slow_host = dice->of(15, 80), slow_device = dice->of(5, 120);
  SimulatedStep out;
  for (int i = 0; i < count; ++i) {
    out.push_back({.name = fmt::format("aten::op{}", i % 7),
                   .kernel = fmt::format("sm80_xmma_gemm_{}", i % 7),
                   .before_us = dice->of(0, 10),
                   .host_us = dice->of(10, slow_host),
                   .device_us = dice->of(3, slow_device)});
  }
  return out;
}

struct Planted {
  std::string_view finding;
  // The step with the fault, and without.
  std::function<std::pair<SimulatedStep, SimulatedStep>(Dice*)> make;
};

SimulatedStep joined(std::initializer_list<SimulatedStep> parts) {
  SimulatedStep out;
  for (const SimulatedStep& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

SimulatedStep repeated(int times, const SimulatedStep& step) {
  SimulatedStep out;
  for (int i = 0; i < times; ++i) out.insert(out.end(), step.begin(), step.end());
  return out;
}

// `fault` between two parts of a model, or `mended` in its place.
std::pair<SimulatedStep, SimulatedStep> between(Dice* dice, const SimulatedStep& fault, const SimulatedStep& mended) {
  const SimulatedStep before = layers(dice, dice->of(5, 20)), behind = layers(dice, dice->of(5, 20));
  return {joined({before, fault, behind}), joined({before, mended, behind})};
}

const std::vector<Planted>& planted() {
  static const std::vector<Planted> all = {
      {"host_sync",
       [](Dice* dice) {
         const SimulatedOp read{.name = "aten::item", .call = "cudaStreamSynchronize", .device_us = 0, .waits = true};
         return between(dice, {read}, {});
       }},
      {"allocator",
       [](Dice* dice) {
         const SimulatedOp grow{.name = "aten::empty", .call = "cudaMalloc", .host_us = dice->of(100, 900), .device_us = 0};
         const SimulatedOp shrink{.name = "", .call = "cudaFree", .host_us = dice->of(100, 900), .device_us = 0, .waits = true};
         return between(dice, {grow, shrink}, {});
       }},
      {"dataloader",
       [](Dice* dice) {
         const SimulatedOp batch{.name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                 .call = "",
                                 .host_us = dice->of(500, 4'000),
                                 .device_us = 0};
         return between(dice, {batch}, {});
       }},
      {"pageable_copy",
       [](Dice* dice) {
         SimulatedOp copy{.name = "aten::copy_",
                          .call = "cudaMemcpyAsync",
                          .kernel = "Memcpy HtoD (Pageable -> Device)",
                          .device_us = dice->of(800, 3'000),
                          .waits = true};
         SimulatedOp pinned = copy;
         pinned.waits = false;
         pinned.device_us = 700;  // 40 MB at the speed of the link
         return between(dice, {copy}, {pinned});
       }},
      {"unfused_pointwise",
       [](Dice* dice) {
         SimulatedStep chain;
         for (int i = dice->of(3, 12); i-- > 0;)
           chain.push_back({.name = i % 2 == 0 ? "aten::mul" : "aten::add",
                            .kernel = std::string(i % 2 == 0 ? kPointwise : kSum),
                            .before_us = dice->of(0, 15),
                            .host_us = dice->of(10, 40),
                            .device_us = dice->of(20, 60)});
         const SimulatedStep product = {{.device_us = dice->of(20, 60)}};
         return between(dice, repeated(3, joined({product, chain})), repeated(3, joined({product, {chain.front()}})));
       }},
      {"tiny_kernels",
       [](Dice* dice) {
         const SimulatedStep round = {
             {.name = "aten::mul", .kernel = std::string(kPointwise), .host_us = dice->of(10, 30), .device_us = 2},
             {.name = "aten::exp", .kernel = "exp_kernel", .before_us = dice->of(0, 10), .device_us = dice->of(1, 4)}};
         return between(dice, repeated(dice->of(40, 90), round), round);
       }},
      {"duplicate_casts",
       [](Dice* dice) {
         const std::string up = R"("Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["float", "c10::BFloat16"])";
         const std::string down = R"("Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16", "float"])";
         SimulatedOp cast{
             .name = "aten::copy_",
             .kernel = "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda<float>>()",
             .before_us = dice->of(0, 20),
             .host_us = dice->of(10, 40),
             .device_us = dice->of(20, 60),
             .args = up};
         SimulatedOp back = cast;
         back.kernel = std::string(kToHalf);
         back.args = down;
         return between(dice, repeated(dice->of(2, 8), {cast, back}), {});
       }},
      {"optimizer_not_fused",
       [](Dice* dice) {
         const SimulatedOp update{.name = "aten::addcmul_",
                                  .kernel = std::string(kPointwise),
                                  .before_us = dice->of(0, 10),
                                  .host_us = dice->of(10, 30),
                                  .device_us = dice->of(2, 8),
                                  .around = "Optimizer.step#Adam.step"};
         SimulatedOp other = update;
         other.name = "aten::addcdiv_";
         other.kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::addcdiv_cuda_kernel<float>>()";
         const int parameters = dice->of(10, 60);
         SimulatedOp fused = update;
         fused.name = "aten::_fused_adam_";
         fused.kernel = "void at::native::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor<float>>()";
         fused.device_us = parameters;
         return between(dice, repeated(parameters, {update, other}), {fused});
       }},
      {"launch_bound",
       [](Dice* dice) {
         SimulatedStep fault = layers(dice, dice->of(30, 80)), mended;
         for (SimulatedOp& op : fault) op.host_us += 30;
         for (SimulatedOp op : fault) {
           op.before_us = 0;
           op.host_us = 2;
           mended.push_back(op);
         }
         return std::pair(fault, mended);
       }},
      {"preprocessing",
       [](Dice* dice) {
         const SimulatedStep model = layers(dice, dice->of(10, 30));
         SimulatedStep fault = model;
         fault.front().before_us += dice->of(1'500, 6'000);
         return std::pair(fault, model);
       }},
  };
  return all;
}

class Simulated : public testing::TestWithParam<std::size_t> {};

TEST_P(Simulated, SavesNoMoreThanItsBound) {
  constexpr unsigned kPrograms = 16;
  constexpr int kSteps = 4;
  const Planted& kind = planted()[GetParam()];
  unsigned found = 0;
  for (unsigned seed = 1; seed <= kPrograms; ++seed) {
    Dice dice(seed);
    const auto [fault, mended] = kind.make(&dice);
    const Simulation with(fault, kSteps), without(mended, kSteps);
    const test::LoadedTrace loaded = test::load_events(with.events());
    const Scope scope(*loaded.model);
    // Nobody slowed it down: what is simulated is the program.
    const auto step_ns = static_cast<std::int64_t>(with.step_us() * kUs);
    const SavingsOnce savings(scope, WhatIf::From::without_profiler, step_ns);
    const Findings findings = compute_findings(scope, {}, {.savings = &savings});
    const auto row = std::ranges::find(findings.rows, kind.finding, &RankedFinding::id);
    if (row == findings.rows.end() || !row->at_most_ns) continue;
    ++found;
    const double saved_us = with.step_us() - without.step_us();
    EXPECT_GE(static_cast<double>(*row->at_most_ns) / kUs, saved_us - 1)
        << "program " << seed << " of " << with.step_us() << " us";
  }
  EXPECT_GE(found, kPrograms / 4) << kind.finding;
}

INSTANTIATE_TEST_SUITE_P(Faults, Simulated, testing::Range(std::size_t{0}, planted().size()),
                         [](const auto& one) { return std::string(planted()[one.param].finding); });

}  // namespace
}  // namespace ridge
