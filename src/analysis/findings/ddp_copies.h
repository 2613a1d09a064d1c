// DdpCopies: copies on the device that DistributedDataParallel makes, one per gradient or buffer. The program has no loop that
// could be written otherwise, but options that do without them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "analysis/findings/facts.h"

namespace ridge {

class DdpCopies {
 public:
  explicit DdpCopies(const Facts& facts);

  bool are_its_own(std::uint32_t row) { return sort_of(row) != Sort::others; }
  void see(std::uint32_t row);  // device work, in order of time
  // What to do about them; empty unless they are at least half of what was seen.
  std::string remedy() const;

 private:
  enum class Sort : std::uint8_t { others, gradient, buffer };
  Sort sort_of(std::uint32_t row);
  bool follows_broadcast(NodeId copy);

  const Facts& facts_;
  bool any_;                                            // the program uses it
  std::unordered_map<std::uint32_t, bool> of_buffers_;  // by op: whether it copies a buffer
  std::int64_t seen_ = 0, gradients_ = 0, buffers_ = 0;
};

}  // namespace ridge
