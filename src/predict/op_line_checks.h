// What is impossible about a call that someone wrote down: sizes that do not fit each other, types that do not exist, fields
// that are something else. A trace's calls have run, so that nobody asks this of them.
#pragma once

#include <optional>
#include <string>

#include <simdjson.h>

#include "ops/op_call.h"
#include "predict/tile_features.h"

namespace ridge {

// Of the fields that stand in a line, the one that is of another type than it should be, in words.
std::optional<std::string> wrong_field(simdjson::dom::object line);
// Of a `config` that is none of them.
TritonTile tile_of(simdjson::dom::element config);

// Where the tensor that the op goes over has no elements. Others may have none, as the buffers that cuDNN's norms are given,
// and so may results of a trace's calls, which are made large enough by the op itself.
std::optional<std::string> nothing_to_do(const OpCall& call);
// What is wrong, in words; nothing where the call can be.
std::optional<std::string> impossible(const OpCall& call);

}  // namespace ridge
