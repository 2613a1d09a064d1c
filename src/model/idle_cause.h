// IdleCause: why a device had nothing to do, for a piece of time. The order is that in which tables list equal amounts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ridge {

enum class IdleCause : std::uint8_t {
  sync,        // the host waited for the device and so had nothing queued behind it
  compile,     // the host compiled
  guards,      // the host looked for compiled code: TorchDynamo Cache Lookup
  allocator,   // the host asked the driver for memory, or gave it back
  dataloader,  // the host waited for the next batch
  copy_wait,   // the host was held by a blocking or pageable copy to the device
  launch,      // the host was late for any other reason: the queue was empty
  recorder,    // the host was late by about what being recorded cost it
  dependency,  // work was queued and waited: for another stream, a collective, another process
  kernel_gap,  // work was queued and ready: the device's own pause between two pieces of work
  head_tail,   // before the device's first work and after its last
  unknown,     // the trace does not tell
};
inline constexpr std::size_t kIdleCauses = static_cast<std::size_t>(IdleCause::unknown) + 1;

// Late launches, whoever made the host late.
constexpr bool is_late(IdleCause cause) { return cause == IdleCause::launch || cause == IdleCause::recorder; }

std::string_view name_of(IdleCause cause);
std::string_view meaning_of(IdleCause cause);  // for people: a few words

}  // namespace ridge
