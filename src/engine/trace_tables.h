// TraceTables: the traces of an engine, which stay, and what is made of them when asked for: parts (the programs of one
// device), models, costs, timelines. These are kept within a budget and made again when they are asked for after they went.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ridge/analysis.h>
#include <ridge/result.h>
#include <ridge/timeline.h>

#include "base/threads.h"
#include "cost/cost_model.h"
#include "engine/cache.h"
#include "trace/trace.h"

namespace ridge {

class TraceTables {
 public:
  using Traces = std::vector<std::shared_ptr<const Trace>>;
  // `budget_bytes` 0: the default of OpenOptions::cache_bytes.
  TraceTables(Traces traces, std::uint64_t budget_bytes, std::shared_ptr<Threads> threads, bool named_files_only);

  std::size_t size() const { return traces_.size(); }
  const Trace& trace(std::size_t i) const { return *traces_[i]; }
  std::shared_ptr<const Trace> held_trace(std::size_t i) const { return traces_[i]; }

  // By --runs, --gpu and the flags about costs. The handle keeps its model and its trace too.
  Result<std::shared_ptr<const CostModel>> costs(std::size_t i, const Arguments& arguments);
  // By --runs and the flags about costs.
  Result<std::shared_ptr<const Timeline>> timeline(std::size_t i, const Arguments& arguments);

  Cache& cache() { return cache_; }

 private:
  struct Part;
  struct HeldModel;
  struct HeldCosts;
  // What a model is made of: --runs, and the device whose programs alone it holds, where a trace has several programs.
  struct ModelKey {
    std::int64_t runs = 0;
    std::optional<std::int64_t> device = {};
  };

  Result<ModelKey> model_key(std::size_t i, const Arguments& arguments);
  static std::string name_of(std::size_t i, const ModelKey& key);
  Result<std::shared_ptr<const Part>> part(std::size_t i, const ModelKey& key);
  Result<std::shared_ptr<const HeldModel>> model(std::size_t i, const ModelKey& key);
  Result<std::shared_ptr<const CostModel>> costs(std::size_t i, const ModelKey& key, const Arguments& arguments);

  const Traces traces_;
  const std::shared_ptr<Threads> threads_;
  const bool named_files_only_;
  Cache cache_;
};

}  // namespace ridge
