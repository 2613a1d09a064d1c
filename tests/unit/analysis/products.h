// Products that cost formulas know, on a device that the table of devices knows.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cost/cost_model.h"
#include "device/device.h"
#include "facts/scope.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge::test {

inline constexpr const char* kGemm =
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas";

// aten::mm of square matrices in bfloat16.
inline std::string mm(int ts, int dur, int n = 1024) {
  const std::string dims =
      "[[" + std::to_string(n) + ", " + std::to_string(n) + "], [" + std::to_string(n) + ", " + std::to_string(n) + "]]";
  return event({.name = "aten::mm",
                .ts = ts,
                .dur = dur,
                .args = "\"Input Dims\": " + dims +
                        ", \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"], \"Input Strides\": [[" + std::to_string(n) +
                        ", 1], [" + std::to_string(n) + ", 1]]"});
}

struct OnDevice {
  LoadedTrace loaded;
  Scope scope;
  OnDevice(std::string_view events, const char* device)
      : loaded(load_events(events)), scope(*loaded.model, std::make_shared<const CostModel>(*loaded.model, options(device))) {}
  static CostOptions options(const char* device) {
    CostOptions options;
    if (device != nullptr) options.device = **find_device(device);
    return options;
  }
};

}  // namespace ridge::test
