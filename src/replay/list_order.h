// The order of an optimizer's tensors, where a trace leaves its lists out: the sizes come from the gradients, nearly in order,
// and which tensors share a launch decides its grid.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ridge {

// Blocks that ATen's kernels over lists give a tensor, one for each chunk of it.
double chunks_of(double elements);

// Tensors that one launch of such a kernel of a fused optimizer takes at most; 0: another kernel.
int most_tensors(std::string_view kernel);

// The blocks of each launch over tensors of these chunks, in order.
std::vector<std::int64_t> launches_over(const std::vector<std::int64_t>& chunks, int most_tensors);

// `sizes` in an order that gives launches of `blocks`; as they are where a few exchanges do not lead there.
std::vector<double> order_for(std::vector<double> sizes, const std::vector<std::int64_t>& blocks, int most_tensors);

}  // namespace ridge
