// Arguments of events: by key for one event, or as a column over many. A value that is absent or of another type is
// std::nullopt.
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

// One key over many events. Resolves the key once per form, so that a read is a few loads.
class ArgColumn {
 public:
  ArgColumn(const Trace& trace, ArgKey key, bool member = false);

  std::optional<std::int64_t> integer(EventId event) const {
    const Slot& s = slot(event);
    if (s.type == ArgType::int32) return static_cast<std::int32_t>(trace_->events.words(event)[s.word]);
    if (s.type == ArgType::int64) return static_cast<std::int64_t>(join_words(trace_->events.words(event) + s.word));
    return std::nullopt;
  }
  std::optional<double> number(EventId event) const;
  std::optional<StringId> text(EventId event) const {  // texts and json, as ids: equal text has equal id
    const Slot& s = slot(event);
    if (s.type == ArgType::text || s.type == ArgType::json) return StringId{trace_->events.words(event)[s.word]};
    return s.type == ArgType::fixed_text ? std::optional(s.fixed) : std::nullopt;
  }

 private:
  const Slot& slot(EventId event) const { return slot_of_form_[trace_->events.form(event).value]; }

  const Trace* trace_;
  std::vector<Slot> slot_of_form_;  // type null where the form lacks the key
};

// "[490, 1, 1]": a grid or block. Anything else is nothing.
struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  auto operator<=>(const Dim3&) const = default;
};
std::optional<Dim3> parse_dim3(std::string_view json);

}  // namespace ridge
