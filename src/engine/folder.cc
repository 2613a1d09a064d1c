// Lists the traces of a folder, numbers in names in order of value.
#include "engine/folder.h"

#include <ridge/digest.h>
#include <ridge/folder.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/distinct_names.h"
#include "base/try.h"

namespace ridge {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Numbers within names by their value, the rest by its bytes.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
      continue;
    }
    const auto number_at = [](const std::string& text, std::size_t* at) {
      while (*at + 1 < text.size() && text[*at] == '0' && is_digit(text[*at + 1])) ++*at;
      const std::size_t begin = *at;
      while (*at < text.size() && is_digit(text[*at])) ++*at;
      return std::string_view(text).substr(begin, *at - begin);
    };
    const std::string_view x = number_at(a, &i), y = number_at(b, &j);
    if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
  }
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

enum class Digests : std::uint8_t { without_traces, always };  // when those of a folder are taken

// The traces in a folder, else in the folders right below; an error when there is none.
Result<std::vector<std::string>> traces_in(const std::string& folder, Digests digests, bool may_go_below = true) {
  std::error_code error;
  std::vector<std::string> traces;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error) && is_named_like_trace(it->path().native())) traces.push_back(it->path().string());
  }
  if (traces.empty() || digests == Digests::always) {  // of a job perhaps the digests
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->is_regular_file(error) && it->path().native().ends_with(kDigestEnding)) traces.push_back(it->path().string());
    }
  }
  if (traces.empty() && !error && may_go_below) {  // a folder for each machine
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (!it->is_directory(error)) continue;
      const auto inside = traces_in(it->path().string(), digests, false);
      if (inside) traces.insert(traces.end(), inside->begin(), inside->end());
    }
  }
  if (error) return fail(ErrorCode::cannot_open, "cannot list the folder: " + error.message(), folder, "check its permissions");
  std::sort(traces.begin(), traces.end(), natural_less);
  if (traces.empty())
    return fail(ErrorCode::cannot_open, "the folder has no .json, .json.gz or .json.zst file", folder,
                "give the path of a trace");
  return traces;
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path != "-" && fs::is_directory(path, ignored);
}

}  // namespace

bool is_named_like_trace(std::string_view name) {
  constexpr std::string_view kEndings[] = {".json", ".json.gz", ".json.zst"};
  return std::any_of(std::begin(kEndings), std::end(kEndings), [&](std::string_view ending) { return name.ends_with(ending); });
}

namespace {

Result<std::vector<std::string>> expanded(const std::vector<std::string>& paths, Digests digests) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    if (!is_folder(path)) {
      all.push_back(path);
      continue;
    }
    TRY(const std::vector<std::string> inside, traces_in(path, digests));
    all.insert(all.end(), inside.begin(), inside.end());
  }
  return all;
}

}  // namespace

Result<std::vector<std::string>> with_folders_expanded(const std::vector<std::string>& paths) {
  return expanded(paths, Digests::without_traces);
}

Result<std::vector<std::string>> with_job_folders_expanded(const std::vector<std::string>& paths) {
  return expanded(paths, Digests::always);
}

Result<std::string> resolve_folder(const std::string& path) {
  if (!is_folder(path)) return path;
  TRY(const std::vector<std::string> traces, traces_in(path, Digests::without_traces));
  if (traces.size() == 1) return traces.front();
  std::string message = "the folder has " + std::to_string(traces.size()) + " traces; this command takes one:";
  constexpr std::size_t kMostListed = 20;
  for (std::size_t i = 0; i < std::min(traces.size(), kMostListed); ++i) message += "\n  " + traces[i];
  if (traces.size() > kMostListed) message += "\n  and " + std::to_string(traces.size() - kMostListed) + " more";
  return fail(ErrorCode::too_many_traces, message, path, "choose one of them");
}

std::vector<std::string> short_names(const std::vector<std::string>& paths) { return distinct_names(paths); }

}  // namespace ridge
