// A folder given where traces are wanted, and what to call the traces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

namespace ridge {

// The paths with every folder among them replaced by the traces in it (.json, .json.gz, .json.zst; where it has
// none, those in the folders right below), in natural order: rank2 before rank10. Whatever is no folder stays as it is.
Result<std::vector<std::string>> with_folders_expanded(const std::vector<std::string>& paths);

// The same for a whole job: digests that lie beside traces are taken too (<ridge/digest.h>).
Result<std::vector<std::string>> with_job_folders_expanded(const std::vector<std::string>& paths);

// Whether a file of that name is taken for a trace where none is named: by its ending.
bool is_named_like_trace(std::string_view name);

// Short names of files that tell them apart: the file's name, with as many of its folders as that takes.
std::vector<std::string> short_names(const std::vector<std::string>& paths);

}  // namespace ridge
