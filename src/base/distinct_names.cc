// Names grow by a folder at a time, those only that equal another.
#include "base/distinct_names.h"

#include <cstddef>
#include <map>
#include <set>

namespace ridge {
namespace {

// The last `parts` components of a path.
std::string tail_of(const std::string& path, std::size_t parts) {
  std::size_t at = path.size();
  for (std::size_t i = 0; i < parts; ++i) {
    at = at == 0 ? std::string::npos : path.rfind('/', at - 1);
    if (at == std::string::npos) return path;
  }
  return path.substr(at + 1);
}

}  // namespace

std::vector<std::string> distinct_names(const std::vector<std::string>& paths) {
  std::vector<std::size_t> parts(paths.size(), 1);
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(tail_of(path, 1));
  for (bool grown = true; grown;) {
    grown = false;
    std::map<std::string, std::set<std::string>> called;  // by name
    for (std::size_t i = 0; i < paths.size(); ++i) called[names[i]].insert(paths[i]);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (called[names[i]].size() < 2 || names[i] == paths[i]) continue;
      names[i] = tail_of(paths[i], ++parts[i]);
      grown = true;
    }
  }
  std::map<std::string, std::size_t> seen;
  for (std::string& name : names) {
    const std::size_t before = seen[name]++;
    if (before > 0) name += " (" + std::to_string(before + 1) + ")";
  }
  return names;
}

}  // namespace ridge
