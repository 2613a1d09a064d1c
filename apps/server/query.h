// The target of a request, taken apart: "/api/v1/slices?track=3&px=800" -> path and parameters. Anything odd is refused,
// nothing is repaired.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

namespace ridge::server {

inline constexpr std::size_t kLongestTarget = 8192;
inline constexpr std::size_t kMostParameters = 32;

struct Target {
  std::string path;  // as sent: paths are never decoded, so that no two spellings name one thing
  std::map<std::string, std::string, std::less<>> query;  // decoded; of a repeated one all values, kListSeparator between
  std::set<std::string, std::less<>> repeated = {};       // names that came more than once

  // "/path?a=1&b=2": keys sorted, values encoded. Equal targets have equal texts.
  std::string canonical() const;
};

// Refuses: targets that do not begin with "/", are too long, hold control characters or spaces; parameters that are too many,
// have no name, a broken %-escape, a NUL or bytes that are no UTF-8. A fragment is refused too: no client sends
// one.
Result<Target> parse_target(std::string_view text);

// Reads parameters by name; `finish` refuses those that nobody asked for, and those that came twice. The first error is kept.
class Parameters {
 public:
  explicit Parameters(const Target& target) : target_(target) {}

  std::int64_t integer(std::string_view name, std::optional<std::int64_t> otherwise, std::int64_t least, std::int64_t most);
  std::string text(std::string_view name, std::optional<std::string> otherwise);
  std::optional<std::vector<std::uint32_t>> ids(std::string_view name);  // "1,2,3"; absent: nothing
  Result<void> finish() const;

 private:
  const std::string* find(std::string_view name);
  void refuse(std::string message);

  const Target& target_;
  std::vector<std::string_view> asked_;
  std::string error_;
};

}  // namespace ridge::server
