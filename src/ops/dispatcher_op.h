// Whether an event of a host op is a call of an op with a schema, whose arguments can be those of the kernels that it launches.
#pragma once

#include <string_view>

namespace ridge {

// "aten::mm", "vllm::unified_attention", "aten::add.Tensor": a namespace, a name, perhaps an overload. All else only calls ops:
// CompiledFunction and other autograd functions, "autograd::engine::evaluate_function: X", "torch::autograd::AccumulateGrad",
// hooks, marks of regions. Their arguments are those of a graph or of a Python function.
bool is_dispatcher_op(std::string_view name);

}  // namespace ridge
