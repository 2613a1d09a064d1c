// A call is parsed when its texts are first met.
#include "cost/library/op_signatures.h"

namespace ridge {

std::uint32_t OpSignatures::of(EventId event) {
  const auto text = [&](const ArgColumn& column) { return column.text(event).value_or(StringId{}); };
  const Texts texts{trace_.events.name(event), text(ops_.input_dims), text(ops_.input_type), text(ops_.input_strides),
                    text(ops_.concrete_inputs)};
  const auto [it, is_new] = ids_.try_emplace(texts, static_cast<std::uint32_t>(calls_.size()));
  if (is_new) {
    calls_.push_back(parse_op_call(trace_.text(texts.name), trace_.text(texts.dims), trace_.text(texts.types),
                                   trace_.text(texts.strides), trace_.text(texts.concrete)));
  }
  return it->second;
}

}  // namespace ridge
