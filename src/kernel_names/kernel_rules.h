// What a kernel's name alone tells: one row per way of naming.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernel_names/category.h"
#include "kernel_names/kernel_name.h"

namespace ridge {

// Where a rule's pattern is looked for: `head` is the name before its template and parameters, `text` the name with its
// template.
enum class NamePart : std::uint8_t { head_start, head, text };

struct KernelRule {
  NamePart in;
  std::string_view pattern;
  Category category;
  std::string_view library;
  std::string_view family = {};  // what the label begins with, before the functor; empty: the label is the short name
  bool helper = false;
};

// The first rule that fits; null where none does.
const KernelRule* find_kernel_rule(const KernelName& name);

}  // namespace ridge
