// The spelling of the dispatcher's names: torch.library takes identifiers alone.
#include "ops/dispatcher_op.h"

#include <algorithm>
#include <cctype>

namespace ridge {
namespace {

bool is_word(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

bool is_dispatcher_op(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons == std::string_view::npos) return false;
  const std::string_view op = name.substr(colons + 2);
  const std::size_t dot = op.find('.');
  return is_word(name.substr(0, colons)) && is_word(op.substr(0, dot)) &&
         (dot == std::string_view::npos || is_word(op.substr(dot + 1)));
}

}  // namespace ridge
