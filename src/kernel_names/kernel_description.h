// KernelDescription: what a kernel is, told from its name alone: category, library, readable label, and for Inductor kernels
// the ops it fuses. The rows are in kernel_rules.cc. Its part in an op is asked of kernel_role.h, the types and tiles it is
// built for of kernel_facts.h; what the launch and the op add is in model/kernel_identity.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel_names/category.h"

namespace ridge {

struct KernelDescription {
  Category category = Category::other;
  std::string_view library;            // inductor, triton, cublas, cutlass, cudnn, aten, nccl, ...; empty when not known
  std::string label;                   // readable form of the name
  std::vector<std::string> fused_ops;  // of an Inductor kernel: ATen names without the namespace, in the name's order
  bool helper = false;  // layout transform, split-k reduction, workspace init inside a library call: moves data only
  bool known = false;   // a row fits; without one the category is `other` and the library not known
  bool python = false;  // an identifier alone, as a Triton kernel of the user has it
};

KernelDescription describe_kernel(std::string_view name);

// Of a Triton kernel that a user wrote, whatever its name.
KernelDescription describe_user_triton(std::string_view name);

// "triton_" and "triton__0d1d2d3de": a name that tells nothing, where the op's name tells what the kernel is.
bool is_short_triton(std::string_view name);

}  // namespace ridge
