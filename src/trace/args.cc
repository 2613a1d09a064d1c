// How each argument type is read back from its words.
#include "trace/args.h"

#include <bit>
#include <charconv>

#include "trace/arg_slots.h"

namespace ridge {
namespace {

std::int64_t signed_word(const std::uint32_t* words) { return static_cast<std::int32_t>(*words); }

}  // namespace

std::optional<std::int64_t> ArgValue::as_integer() const {
  if (type != ArgType::int32 && type != ArgType::int64) return std::nullopt;
  return integer;
}

std::optional<double> ArgValue::as_number() const {
  if (type == ArgType::real) return real;
  if (type == ArgType::uint64) return static_cast<double>(large_integer);
  if (const auto value = as_integer()) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<std::string_view> ArgValue::as_text() const {
  if (type == ArgType::text || type == ArgType::json || type == ArgType::fixed_text) return text;
  return std::nullopt;
}

ArgValue value_of(const Trace& trace, const Slot& slot, const std::uint32_t* words) {
  ArgValue value;
  value.type = slot.type;
  const std::uint32_t* w = words + slot.word;
  switch (slot.type) {
    case ArgType::int32: value.integer = signed_word(w); break;
    case ArgType::int64: value.integer = static_cast<std::int64_t>(join_words(w)); break;
    case ArgType::uint64: value.large_integer = join_words(w); break;
    case ArgType::real: value.real = std::bit_cast<double>(join_words(w)); break;
    case ArgType::text:
    case ArgType::json:
    case ArgType::big_integer: value.text = trace.text(StringId{*w}); break;
    case ArgType::fixed_text: value.text = trace.text(slot.fixed); break;
    default: break;
  }
  return value;
}

std::optional<ArgValue> find_arg(const Trace& trace, EventId event, std::string_view key, bool member) {
  for (const Slot& slot : trace.forms.schema(trace.events.form(event)).slots) {
    if (slot.member == member && trace.text(slot.key) == key) return value_of(trace, slot, trace.events.words(event));
  }
  return std::nullopt;
}

std::vector<Slot> slots_by_form(const Trace& trace, ArgKey key, bool member) {
  std::vector<Slot> of_schema;
  of_schema.reserve(trace.forms.schemas().size());
  for (const ArgSchema& schema : trace.forms.schemas()) {
    Slot& found = of_schema.emplace_back();
    for (const Slot& slot : schema.slots) {
      if (slot.key == id_of(key) && slot.member == member) found = slot;
    }
  }
  std::vector<Slot> of_form;
  of_form.reserve(trace.forms.forms().size());
  for (const Form& form : trace.forms.forms()) of_form.push_back(of_schema[form.schema.value]);
  return of_form;
}

ArgColumn::ArgColumn(const Trace& trace, ArgKey key, bool member)
    : trace_(&trace), slot_of_form_(slots_by_form(trace, key, member)) {}

std::optional<double> ArgColumn::number(EventId event) const {
  const Slot& s = slot(event);
  return s.type == ArgType::null ? std::nullopt : value_of(*trace_, s, trace_->events.words(event)).as_number();
}

std::optional<Dim3> parse_dim3(std::string_view json) {
  Dim3 dim;
  std::int64_t* parts[] = {&dim.x, &dim.y, &dim.z};
  const char* p = json.data();
  const char* end = p + json.size();
  if (p == end || *p != '[') return std::nullopt;
  ++p;
  for (int i = 0; i < 3; ++i) {
    const auto [after, error] = std::from_chars(p, end, *parts[i]);
    if (error != std::errc{} || after == end || *after != (i < 2 ? ',' : ']')) return std::nullopt;
    p = after + 1;
  }
  return p == end ? std::optional(dim) : std::nullopt;
}

}  // namespace ridge
