// What files of digests hold, as tables: for engines that ask in SQL over many ranks (docs/jobs.md).
#pragma once

#include <string>
#include <vector>

#include <ridge/engine.h>
#include <ridge/result.h>
#include <ridge/table.h>

namespace ridge {

// ranks, groups, steps, collectives, kernels, ops, intervals: the rows of all digests in the files, and of traces among them,
// each with its rank. A rank that is given twice has its rows twice; none is left out.
Result<std::vector<Table>> digest_tables(const std::vector<std::string>& paths, const OpenOptions& options);

}  // namespace ridge
