// The names of ATen ops that appear in names of fused kernels. The list exists to tell where one name ends and the next begins:
// ops whose names hold an underscore must be in it, others may. It says nothing about what an op computes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridge {

bool is_known_op(std::string_view name);  // without namespace and overload: "native_layer_norm"

// "_to_copy_add_native_layer_norm" -> _to_copy, add, native_layer_norm. Greedy: at each place the longest known name that ends
// at an underscore or at the end; where none fits, the text up to the next underscore.
std::vector<std::string> split_op_names(std::string_view joined);

}  // namespace ridge
