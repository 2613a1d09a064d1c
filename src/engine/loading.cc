// From the public options to the reader's, and from its diagnostics to a report's.
#include "engine/loading.h"

namespace ridge {

ReadOptions read_options(const OpenOptions& options) {
  ReadOptions read;
  read.threads = options.threads;
  read.max_bytes = options.max_bytes != 0 ? options.max_bytes : kDefaultMaxBytes;
  read.keep_places = options.keep_places;
  if (options.max_memory != 0) read.max_memory = options.max_memory;
  if (options.progress) {
    read.progress = [&options](std::uint64_t done, std::uint64_t total) { return options.progress({"reading", done, total}); };
  }
  return read;
}

std::vector<Diagnostic> diagnostics_of(const Diagnostics& found) {
  std::vector<Diagnostic> out;
  for (std::size_t i = 0; i < kProblems; ++i) {
    const auto problem = static_cast<Problem>(i);
    const Diagnostics::Entry& entry = found[problem];
    if (entry.count == 0) continue;
    const ProblemRow& row = row_of(problem);
    out.push_back({std::string(row.code), static_cast<std::int64_t>(entry.count), std::string(row.message),
                   std::string(name_of(row.severity))});
  }
  return out;
}

}  // namespace ridge
