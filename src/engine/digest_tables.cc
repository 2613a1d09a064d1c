// Digests are loaded like those of a question, and their content told as it is.
#include <ridge/digest_tables.h>

#include <memory>

#include <ridge/folder.h>

#include "base/threads.h"
#include "base/try.h"
#include "engine/digests.h"
#include "job/tables_of_digests.h"

namespace ridge {

Result<std::vector<Table>> digest_tables(const std::vector<std::string>& paths, const OpenOptions& options) {
  TRY(const std::vector<std::string> files, with_folders_expanded(paths));
  const auto threads = std::make_shared<Threads>(options.threads);
  const Threads::Use use(threads.get());
  TRY(const LoadedDigests loaded, load_digests(files, options));
  return tables_of_digests(loaded.digests);
}

}  // namespace ridge
