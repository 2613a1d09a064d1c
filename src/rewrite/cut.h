// cut: a part of a trace as a trace of its own: the events of a range with what they need (see selection.h), each as it stands
// in the file, and all metadata. Valid JSON whatever the input was.
#pragma once

#include <cstdint>
#include <string>

#include <ridge/result.h>

#include "rewrite/blocks.h"
#include "rewrite/selection.h"

namespace ridge {

struct CutCounts {
  std::uint64_t events = 0;  // written
};

// The part that `scope` holds. `source` is what its trace was read from, with its places kept, opened anew.
Result<CutCounts> cut(const Scope& scope, OpenedSource source, const BlockOptions& options, PackedFile* out);

}  // namespace ridge
