// What augment adds to the args of an event, as text: the members of a launch and of an op call, one after another.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cost/cost_model.h"
#include "rewrite/op_sums.h"

namespace ridge {

// The keys of what is added. Ops of generated kernels have some of an op's keys from Inductor: there only the others are ours.
std::span<const std::string_view> added_work_keys();
std::span<const std::string_view> added_op_keys();
std::span<const std::string_view> added_generated_op_keys();

// What is not known is left out, so that nothing may be appended at all.
void append_work_members(const LaunchCost& cost, const Roof& roof, std::string* out);
void append_op_members(const OpSum& sum, bool generated, std::string* out);

// Of all that a launch reads and writes.
std::optional<double> total_bytes(const LaunchCost& cost);

}  // namespace ridge
