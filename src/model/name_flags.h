// NameFlags: a question about names, asked once per distinct text and then answered by id. Millions of events share a few
// thousand names.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace ridge {

class NameFlags {
 public:
  template <class Predicate>
  NameFlags(const Trace& trace, Predicate predicate) : flags_(trace.strings.size()) {
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      flags_[i] = predicate(trace.text(StringId{i}));
      any_ = any_ || flags_[i] != 0;
    }
  }

  bool operator[](StringId name) const { return flags_[name.value] != 0; }
  bool any() const { return any_; }

 private:
  std::vector<std::uint8_t> flags_;
  bool any_ = false;
};

}  // namespace ridge
