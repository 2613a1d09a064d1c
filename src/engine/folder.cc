#include "engine/folder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

namespace ridge {
namespace {

namespace fs = std::filesystem;

bool named_like_trace(const fs::path& path) {
  const std::string name = path.filename().string();
  constexpr std::string_view kEndings[] = {".json", ".json.gz", ".json.zst"};
  return std::any_of(std::begin(kEndings), std::end(kEndings), [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

Result<std::string> resolve_folder(const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return path;
  std::vector<std::string> traces;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error) && named_like_trace(it->path())) traces.push_back(it->path().string());
  }
  if (error) return fail(ErrorCode::cannot_open, "cannot list the folder: " + error.message(), path, "check its permissions");
  std::sort(traces.begin(), traces.end());
  if (traces.empty())
    return fail(ErrorCode::cannot_open, "the folder holds no .json, .json.gz or .json.zst", path, "give the path of a trace");
  if (traces.size() == 1) return traces.front();
  std::string message = "the folder holds " + std::to_string(traces.size()) + " traces; this command takes one:";
  constexpr std::size_t kMostListed = 20;
  for (std::size_t i = 0; i < std::min(traces.size(), kMostListed); ++i) message += "\n  " + traces[i];
  if (traces.size() > kMostListed) message += "\n  and " + std::to_string(traces.size() - kMostListed) + " more";
  return fail(ErrorCode::too_many_traces, message, path, "name one of them");
}

}  // namespace ridge
