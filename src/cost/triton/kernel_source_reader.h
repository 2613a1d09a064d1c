// Reads the text of a Triton kernel: its parameters, and which of them it loads from and stores to, and how much. Understands
// the forms that Inductor writes; of any other text it tells what it can.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/triton/kernel_source_index.h"

namespace ridge {

struct SourceAccess {
  IndexExpression index;
  double steps = 1;  // how often it is made: the size of the space the kernel walks at that place
};

struct SourceParameter {
  std::string name;
  bool constant = false;                    // tl.constexpr: not among the launch's arguments
  std::vector<SourceAccess> loads, stores;  // distinct ones; an atomic update is both
  bool read() const { return !loads.empty(); }
  bool written() const { return !stores.empty(); }
};

struct KernelText {
  std::vector<SourceParameter> parameters;
  bool tf32 = false;  // a template that multiplies float32 by TF32 units
};

// `scalars`: values of the launch's arguments by position, nothing for pointers. Nothing when the text holds no kernel of that
// name and no other either. Linear in the text.
std::optional<KernelText> read_kernel_text(std::string_view text, std::string_view kernel,
                                           std::span<const std::optional<std::int64_t>> scalars);

}  // namespace ridge
