// Parsing and printing.
#include "model/compile_id.h"

#include <charconv>

namespace ridge {
namespace {

// Takes a number from the front; false when there is none.
bool take_number(std::string_view* text, std::int32_t* value) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value);
  if (error != std::errc{} || *value < 0) return false;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return true;
}

bool take(std::string_view* text, char c) {
  if (!text->starts_with(c)) return false;
  text->remove_prefix(1);
  return true;
}

}  // namespace

CompileId parse_compile_id(std::string_view text) {
  CompileId id;
  if (take(&text, '!')) {
    if (text.starts_with("ca")) {  // the form without a number
      text.remove_prefix(2);
      id.autograd = 0;
    } else if (!take_number(&text, &id.autograd)) {
      return {};
    }
    if (text.empty()) return id;
    if (!take(&text, '/')) return {};
  }
  if (!take_number(&text, &id.frame) || !take(&text, '/') || !take_number(&text, &id.compile)) return {};
  return text.empty() || text.front() == '_' ? id : CompileId{};  // "0/0_1": the second attempt at 0/0
}

std::string text_of(const CompileId& id) {
  std::string text;
  if (id.autograd >= 0) text = "!" + std::to_string(id.autograd);
  if (id.frame < 0) return text;
  if (!text.empty()) text += '/';
  text += std::to_string(id.frame);
  return id.compile < 0 ? text : text + "/" + std::to_string(id.compile);
}

}  // namespace ridge
