// The limits of each architecture (CUDA programming guide, "Technical Specifications per Compute Capability") and the least of
// what they allow. Kineto computes the same where a block has no more than 48 KiB of shared memory, and writes 0 where it has
// more.
#include "device/occupancy.h"

#include <algorithm>
#include <array>

#include "device/device_table.h"

namespace ridge {
namespace {

constexpr std::int64_t kKiB = 1024, kWarp = 32, kSchedulers = 4, kRegisterUnit = 256, kMostThreads = 1024;

struct Architecture {
  std::int64_t major, minor;
  std::int64_t threads, blocks, shared_kib;
};
constexpr std::array kArchitectures = {
    Architecture{7, 0, 2048, 32, 96},   Architecture{7, 2, 2048, 32, 96},   Architecture{7, 5, 1024, 16, 64},
    Architecture{8, 0, 2048, 32, 164},  Architecture{8, 6, 1536, 16, 100},  Architecture{8, 7, 1536, 16, 164},
    Architecture{8, 9, 1536, 24, 100},  Architecture{9, 0, 2048, 32, 228},  Architecture{10, 0, 2048, 32, 228},
    Architecture{10, 3, 2048, 32, 228}, Architecture{12, 0, 1536, 24, 100},
};
constexpr std::int64_t kRegisters = 64 * kKiB;  // of all of them

std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

std::optional<MultiprocessorLimits> multiprocessor_limits(std::int64_t major, std::int64_t minor) {
  for (const Architecture& a : kArchitectures) {
    if (a.major != major || a.minor != minor) continue;
    return MultiprocessorLimits{.threads = a.threads,
                                .blocks = a.blocks,
                                .registers = kRegisters,
                                .shared_bytes = a.shared_kib * kKiB,
                                .shared_unit = major < 8 ? 256 : 128,
                                .shared_kept = major < 8 ? 0 : kKiB};
  }
  return std::nullopt;
}

std::optional<MultiprocessorLimits> multiprocessor_limits(std::string_view device) {
  const auto rows = device_rows();
  const auto row = std::ranges::find_if(rows, [&](const DeviceRow& r) { return r.spec.name == device; });
  return row == rows.end() ? std::nullopt : multiprocessor_limits(row->capability / 10, row->capability % 10);
}

std::optional<std::int64_t> resident_blocks(const MultiprocessorLimits& limits, const BlockNeeds& block) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;  // a trace may claim any number
  if (block.threads <= 0 || block.threads > kMostThreads || block.registers_per_thread < 0 || block.shared_bytes < 0 ||
      block.registers_per_thread > kMost || block.shared_bytes > kMost || limits.threads <= 0)
    return std::nullopt;
  const std::int64_t warps = (block.threads + kWarp - 1) / kWarp;
  std::int64_t held = std::min(limits.blocks, limits.threads / kWarp / warps);
  if (block.registers_per_thread > 0) {
    const std::int64_t of_warp = round_up(block.registers_per_thread * kWarp, kRegisterUnit);
    held = std::min(held, limits.registers / kSchedulers / of_warp * kSchedulers / warps);
  }
  const std::int64_t shared = round_up(block.shared_bytes + limits.shared_kept, limits.shared_unit);
  return shared > 0 ? std::min(held, limits.shared_bytes / shared) : held;
}

}  // namespace ridge
