// Finds the sources of generated kernels on disk, for the cost model and for `check`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cost/config_cache.h"
#include "cost/cost_model.h"
#include "cost/triton/named_sources.h"
#include "predict/table_source.h"

namespace ridge {

// Looks in the folder of --inductor-cache, when one is given: for the end of the path that the trace names, the longest that is
// there, then for a file of that base name anywhere below; then at the path itself. A trace is foreign text, so only plain .py
// files of modest size are read, and nothing that a link leads to outside the folder. Texts are kept. Thread-safe.
class DiskKernelSources : public KernelSources, public NamedKernelSources, public ConfigCache, public TableSource {
 public:
  enum class TracePaths : bool { never, read };  // whether files are read at the paths that the trace tells
  explicit DiskKernelSources(std::string folder = {}, TracePaths trace_paths = TracePaths::read);

  std::optional<std::string> find(std::string_view kernel_file) const override;
  // By the path's end in the folder, else all files of that base name below it; then the generated modules there that hold a
  // kernel of that name. Several may fit: whoever asks holds them against the trace's hash.
  std::vector<std::string> find_named(std::string_view kernel_file, std::string_view kernel) const override;
  std::vector<KeptConfig> kept_configs() const override;
  void set_kernel_table(KernelTable table) { table_ = std::move(table); }
  const KernelTable* kernel_table() const override { return table_ ? &*table_ : nullptr; }
  std::uint64_t memory_bytes() const;  // of the texts kept

 private:
  std::optional<std::string> look(const std::string& kernel_file) const;
  std::vector<std::string> look_in_folder(const std::string& kernel_file, std::size_t most) const;
  void list_folder() const;
  void list_modules() const;

  std::optional<KernelTable> table_;
  std::string folder_;  // canonical; empty: none
  TracePaths trace_paths_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::optional<std::string>, std::less<>> kept_;  // by kernel_file
  mutable std::size_t kept_bytes_ = 0;
  mutable bool listed_ = false;
  mutable std::unordered_map<std::string, std::vector<std::string>> by_base_name_;  // in order of paths
  mutable bool modules_listed_ = false;
  mutable std::map<std::string, std::vector<std::string>, std::less<>> modules_;  // paths by the kernels that they hold
};

}  // namespace ridge
