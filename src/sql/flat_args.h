// Arguments as Perfetto flattens them: a number, text or boolean is one row; a list or an object is a row for each value in it,
// with its path behind the key: `args.Input Dims[1][0]`. Null and what is empty are none.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/args.h"

namespace ridge::sql {

enum class FlatType : std::uint8_t { integer, number, boolean, text };

struct FlatValue {
  FlatType type = FlatType::integer;
  std::int64_t integer = 0;  // booleans too
  double number = 0;
  std::string_view text;
};

// One value within a list or object: where it stands, as `key` and `flat_key` have it behind the argument's own key.
struct FlatLeaf {
  std::string path;       // [1][0]
  std::string flat_path;  // without the indexes
  FlatValue value;
  std::string text;  // storage
};

// Each distinct JSON text is taken apart once. The trace must outlive it.
class FlatArgs {
 public:
  explicit FlatArgs(const Trace& trace) : trace_(trace) {}

  const std::deque<FlatLeaf>& leaves(StringId json);
  // A plain argument's value; nothing of a null and of what has leaves.
  static std::optional<FlatValue> plain(const ArgValue& value);

  // By the key that Perfetto has: "args.External id", "args.Input Dims[0][1]".
  std::optional<FlatValue> find(EventId event, std::string_view key);

 private:
  const Trace& trace_;
  std::unordered_map<StringId, std::deque<FlatLeaf>> leaves_;
};

inline constexpr std::string_view kArgsPrefix = "args.";

}  // namespace ridge::sql
