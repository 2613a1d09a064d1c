// Index expressions of generated kernels ("x0 + 8192*r0_2 + 4194304*x1") and the memory that they reach.
//
// An expression becomes a sum of terms, each a variable with its number of values and its stride in elements. What depends on
// loaded values ("1024*tmp4") is an indirect term; what is not a sum of products is unknown, and the whole tensor stands for
// it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ridge {

struct IndexTerm {
  std::string variable;
  double extent = 1;  // how many values it takes, from 0 up; 0 for a loaded value
  double stride = 0;
};

struct IndexExpression {
  std::vector<IndexTerm> terms;
  double constant = 0;
  bool known = true;

  bool is_constant() const { return known && terms.empty(); }
};

// What the names of a kernel's text stand for at one place in it.
using IndexNames = std::unordered_map<std::string, IndexExpression>;

// Names that begin with "tmp" are loaded or computed values; other names not in `names` make the expression unknown. Bounded
// work for any text. `used`, when given, is where the expression ended.
IndexExpression parse_index(std::string_view text, const IndexNames& names, std::size_t* used = nullptr);

// Bytes of a tensor of `tensor_elements` that an access at all values of the terms touches, in whole accesses of 64 bytes where
// neighbours are further apart. Indirect rows are taken as drawn at random: `steps` is how often the kernel makes the access.
// Never above the tensor.
double reached_bytes(const IndexExpression& index, double item_bytes, double tensor_elements, double steps);

}  // namespace ridge
