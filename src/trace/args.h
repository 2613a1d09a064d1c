// Arguments of events: by key for one event, or as a column over many. A value that is absent or of another type is std::nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/arg_key.h"
#include "trace/trace.h"

namespace ridge {

// One argument as it stands. Only the member that `type` names has a meaning.
struct ArgValue {
  ArgType type = ArgType::null;
  std::int64_t integer = 0;         // int32, int64
  std::uint64_t large_integer = 0;  // uint64
  double real = 0;
  std::string_view text;  // text, fixed_text, json, big_integer

  std::optional<std::int64_t> as_integer() const;
  std::optional<double> as_number() const;          // integers too
  std::optional<std::string_view> as_text() const;  // texts and json
};

ArgValue value_of(const Trace& trace, const Slot& slot, const std::uint32_t* words);

// The argument of that key; `member`: of the event itself (id, bp) and not of its args.
std::optional<ArgValue> find_arg(const Trace& trace, EventId event, std::string_view key, bool member = false);

// One key over many events. Resolves the key once per shape, so that a read is three loads.
class ArgColumn {
 public:
  ArgColumn(const Trace& trace, ArgKey key, bool member = false);

  std::optional<std::int64_t> integer(EventId event) const;
  std::optional<double> number(EventId event) const;
  std::optional<StringId> text(EventId event) const;  // texts and json, as ids: equal text has equal id

 private:
  const Slot* slot(EventId event) const;

  const Trace* trace_;
  std::vector<const Slot*> slot_of_shape_;
};

// "[490, 1, 1]": a grid or block. Anything else is nothing.
struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  auto operator<=>(const Dim3&) const = default;
};
std::optional<Dim3> parse_dim3(std::string_view json);

}  // namespace ridge
