// What the name of an op says to a comparison: whether it is a call of its own or only holds others, what it is called in any
// release and mode (cudnn_batch_norm and _native_batch_norm_legit are one), and whether it is matrix work, which is never fused
// away.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridge::diff {

// Work that a compiler leaves to a library or a typical iteration. A pair must agree in it.
enum class Heavy : std::uint8_t { none, matrix, attention };

// An op that stands for something a user wrote, and not for machinery around it: aten::add, triton_poi_fused_add_0, mylib::op;
// not Torch-Compiled Region, AddmmBackward0, autograd::engine::*, Optimizer.step.
bool is_call(std::string_view op);

// An ATen op that other ATen ops do the work of, and that a compiler takes apart: linear, conv2d, to, layer_norm,
// cross_entropy_loss.
bool is_composite(std::string_view op);

// "batch_norm" for aten::cudnn_batch_norm, "add" for aten::add_, "copy" for aten::_to_copy. Without namespace, overload and
// in-place mark.
std::string canonical_op(std::string_view op);

// Of a canonical name: what it does to each tensor of a list, "mul" for _foreach_mul; empty for an op that takes no list.
std::string listed_op(std::string_view canonical);

// Of a canonical name: "gemm" for mm, addmm, bmm and the like; itself for others. Matrix work of one sort is compared by its
// dimensions.
std::string_view heavy_sort(std::string_view canonical);
Heavy heavy_of(std::string_view canonical);

// "triton_poi_fused_add_relu" for triton_poi_fused_add_relu_12: the number is a counter of the graph. Other names as they are.
std::string_view without_counter(std::string_view kernel);

// "reduce_kernel<#, #, Sum<float>>" for reduce_kernel<512, 1, Sum<float>>, without its counter too: whole numbers among
// template arguments are how a library tiles the work, and with other ones it is the same kernel tuned otherwise.
std::string untuned_name(std::string_view kernel);

}  // namespace ridge::diff
