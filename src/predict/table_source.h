// TableSource: who reads the user's files for the cost model (KernelSources) may also have read a table of kernels that were
// measured alone (--table).
#pragma once

#include "cost/cost_model.h"
#include "predict/kernel_table.h"

namespace ridge {

class TableSource {
 public:
  virtual ~TableSource() = default;
  virtual const KernelTable* kernel_table() const = 0;  // nullptr: none was given
};

inline const KernelTable* table_of(const CostOptions& options) {
  const auto* source = dynamic_cast<const TableSource*>(options.sources);
  return source != nullptr ? source->kernel_table() : nullptr;
}

}  // namespace ridge
