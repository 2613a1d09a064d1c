// Whether the program of a trace trains or only infers: advice about gradients, optimizers and steps is for the former. And
// which server it is part of.
#pragma once

#include <cstdint>

#include "model/model.h"

namespace ridge {

enum class ProgramKind : std::uint8_t {
  unknown,  // no op tells, and no kernel
  trains,   // a backward pass or an optimizer shows, on the host or in the names of kernels
  infers,
};

// Of the whole trace, however narrow a scope is: a training step's forward pass is part of training.
ProgramKind program_kind(const Model& model);

// Whose ops or Python frames the trace has, of servers of language models: advice to them is an option to start them with.
enum class Server : std::uint8_t { none, vllm, sglang };
Server server_of(const Trace& trace);

}  // namespace ridge
