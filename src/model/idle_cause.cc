// The table of causes: name and meaning.
#include "model/idle_cause.h"

#include <array>

namespace ridge {
namespace {

struct CauseRow {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array<CauseRow, kIdleCauses> kCauses = {{
    {"sync", "the host waited for the device"},
    {"compile", "the host was compiling"},
    {"guards", "the host checked guards of compiled code"},
    {"allocator", "the host allocated or freed device memory"},
    {"dataloader", "the host waited for the next batch"},
    {"copy_wait", "the host waited for a blocking copy"},
    {"launch", "the host launched too late"},
    {"recorder", "the profiler slowed the host (estimate)"},
    {"dependency", "queued work waited for another stream, collective or process"},
    {"kernel_gap", "gap between queued kernels"},
    {"head_tail", "before the first and after the last device work"},
    {"unknown", "the trace does not say"},
}};

}  // namespace

std::string_view name_of(IdleCause cause) { return kCauses[static_cast<std::size_t>(cause)].name; }
std::string_view meaning_of(IdleCause cause) { return kCauses[static_cast<std::size_t>(cause)].meaning; }

}  // namespace ridge
