// Advice that fits who made the calls: DistributedDataParallel, cuDNN's search for an algorithm, a server, ROCm.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "support/says.h"
#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::event;
using test::Found;
using test::says;

class Events {
 public:
  Events& slice(std::string_view name, int ts, int dur, std::string_view cat = "cpu_op", int tid = 1) {
    return add(event({.name = name, .ts = ts, .dur = dur, .cat = cat, .tid = tid}));
  }
  Events& work(std::string_view call, std::string_view name, std::string_view cat, int ts, int start, int dur, int tid = 1) {
    const std::string id = fmt::format(R"("correlation": {})", ++correlation_);
    add(event({.name = call, .ts = ts, .dur = 4, .cat = "cuda_runtime", .args = id, .tid = tid}));
    return add(event({.name = name,
                      .ts = start,
                      .dur = dur,
                      .cat = cat,
                      .args = id + R"(, "device": 0, "stream": 7, "bytes": 4096)",
                      .tid = 7}));
  }
  Events& copy(int ts, int tid = 1) {
    slice("aten::copy_", ts, 10, "cpu_op", tid);
    return work("cudaMemcpyAsync", "Memcpy DtoD (Device -> Device)", "gpu_memcpy", ts + 3, ts + 8, 2, tid);
  }
  Found found() const { return test::found_in_events(text_); }

 private:
  Events& add(const std::string& event) {
    text_ += (text_.empty() ? "" : ", ") + event;
    return *this;
  }
  std::string text_;
  int correlation_ = 0;
};

std::string said(const Found& found, std::string_view id) {
  const RankedFinding* row = found.find(id);
  return row == nullptr ? "no " + std::string(id) + ": " + found.ids() : row->finding.action;
}

// Two steps of 120 copies each, 20 us apart, on a thread of their own or within forward.
struct Copies {
  std::string_view around = {};  // each copy
  std::string_view first = {};   // before all of them
  bool in_forward = true;
};
Found copies(const Copies& made) {
  Events events;
  for (int step = 0; step < 2; ++step) {
    const int at = step * 4'000;
    events.slice(fmt::format("ProfilerStep#{}", step), at, 3'900, "user_annotation");
    if (made.in_forward) events.slice("DistributedDataParallel.forward", at + 10, 3'800, "user_annotation");
    if (!made.first.empty()) events.slice(made.first, at + 20, 30);
    for (int i = 0; i < 120; ++i) {
      const int ts = at + 100 + i * 20;
      if (!made.around.empty()) events.slice(made.around, ts - 2, 14);
      events.copy(ts);
    }
    events.slice("aten::mm", at + 3'000, 20);
    events.work("cudaLaunchKernel", "nvjet_tst_128x64_64x6", "kernel", at + 3'005, at + 3'020, 500);
  }
  return events.found();
}

TEST(WhoDidIt, CopiesOfDistributedDataParallelGoByItsOptions) {
  const std::string gradients =
      said(copies({.around = "torch.distributed.ddp.reducer::copy_bucket_to_grad", .in_forward = false}), "tiny_kernels");
  EXPECT_TRUE(says(gradients, {"gradient_as_bucket_view=True"}));
  EXPECT_EQ(gradients.find("broadcast_buffers"), std::string::npos);
  const std::string buffers = said(copies({.first = "aten::unflatten_dense_tensors"}), "tiny_kernels");
  EXPECT_TRUE(says(buffers, {"broadcast_buffers=False"}));
  EXPECT_EQ(buffers.find("gradient_as_bucket_view"), std::string::npos);
  // The model's own copies in forward are a loop of the program's.
  for (const std::string_view first : {"aten::linear", ""})
    EXPECT_TRUE(says(said(copies({.first = first}), "tiny_kernels"), {"replace the loop"})) << first;
}

// An idle device while the driver frees memory in an op, four times.
Found freeing(std::string_view op, std::string_view call, std::string_view cat) {
  Events events;
  for (int i = 0; i < 4; ++i) {
    const int at = i * 2'000;
    events.slice(op, at, 1'990).slice(call, at + 100, 1'500, cat);
    events.work(call.starts_with("hip") ? "hipLaunchKernel" : "cudaLaunchKernel", "nvjet_tst_128x64_64x6", "kernel", at + 1'700,
                at + 1'710, 250);
  }
  return events.found();
}

TEST(WhoDidIt, AllocatorAdviceFitsTheCaller) {
  EXPECT_TRUE(says(said(freeing("aten::conv2d", "cudaFree", "cuda_runtime"), "allocator"), {"cudnn.benchmark", "warm up"}));
  EXPECT_TRUE(says(said(freeing("aten::mm", "cudaFree", "cuda_runtime"), "allocator"), {"empty_cache", "expandable_segments"}));
  const std::string rocm = said(freeing("aten::mm", "hipFree", "cuda_runtime"), "allocator");
  EXPECT_TRUE(says(rocm, {"empty_cache", "pad them"}));
  EXPECT_EQ(rocm.find("expandable_segments"), std::string::npos);
  const std::string emptied =
      said(freeing("aten::mm", "torch/cuda/memory.py(212): empty_cache", "python_function"), "allocator");
  EXPECT_TRUE(says(emptied, {"empty_cache"}));
  EXPECT_EQ(emptied.find("expandable_segments"), std::string::npos);
  // A server empties the cache before it captures: nothing to remove.
  for (const std::string_view around :
       {"capture_32_FULL", "sglang/srt/model_executor/cuda_graph_runner.py(941): _capture_graph"}) {
    const std::string captures =
        said(freeing(around, "torch/cuda/memory.py(212): empty_cache", "python_function"), "allocator");
    EXPECT_TRUE(says(captures, {"before a graph is captured"})) << around;
    EXPECT_EQ(captures.find("remove"), std::string::npos) << around;
  }
}

// Forty launches, each later than the kernel before has ended.
Found late_launches(std::string_view op, std::string_view frame, int kernels_per_step) {
  Events events;
  for (int i = 0; i < 40; ++i) {
    const int at = i * 100;
    if (i % kernels_per_step == 0)
      events.slice(fmt::format("ProfilerStep#{}", i / kernels_per_step), at, 100 * kernels_per_step - 2, "user_annotation");
    if (!frame.empty()) events.slice(frame, at + 1, 95, "python_function");
    events.slice(op, at + 5, 90);
    events.work("cudaLaunchKernel", "void at::native::softmax_warp_forward<float>()", "kernel", at + 80, at + 86, 5);
  }
  return events.found();
}

TEST(WhoDidIt, ServersCaptureGraphsByThemselves) {
  EXPECT_TRUE(says(said(late_launches("vllm::unified_attention", "", 20), "launch_bound"), {"vLLM", "--enforce-eager"}));
  EXPECT_TRUE(says(said(late_launches("aten::softmax", "/x/vllm/v1/worker/gpu_worker.py(12): step", 20), "launch_bound"),
                   {"vLLM", "--enforce-eager"}));
  EXPECT_TRUE(says(said(late_launches("aten::softmax", "sglang/srt/models/llama.py(12): forward", 20), "launch_bound"),
                   {"SGLang", "--disable-cuda-graph"}));
  EXPECT_TRUE(says(said(late_launches("aten::softmax", "train.py(12): forward", 20), "launch_bound"), {"torch.compile"}));
}

TEST(WhoDidIt, AStepOfOneKernelHasNoneToFuse) {
  const std::string one = said(late_launches("aten::softmax", "", 1), "launch_bound");
  EXPECT_TRUE(says(one, {"larger batch"}));
  EXPECT_EQ(one.find("fewer kernels"), std::string::npos);
}

}  // namespace
}  // namespace ridge
