// The hash table of a Dictionary.
#include <ridge/dictionary.h>

#include <algorithm>

#include "base/hash.h"
#include "base/heap_bytes.h"

namespace ridge {
namespace {

// Differs from process to process where addresses do, so that no trace can be made to collide on purpose.
std::uint64_t seed() {
  static const char place = 0;
  return reinterpret_cast<std::uintptr_t>(&place);
}

}  // namespace

std::uint32_t Dictionary::add(std::string_view text) {
  if (2 * (ends_.size() + 1) > slots_.size()) grow();
  std::uint32_t& slot = slots_[slot_of(text)];
  if (slot == 0) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
    slot = static_cast<std::uint32_t>(ends_.size());
  }
  return slot - 1;
}

// Where the text is, or the free place where it would be.
std::size_t Dictionary::slot_of(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_text(text, seed()) & mask;
  while (slots_[at] != 0 && this->text(slots_[at] - 1) != text) at = (at + 1) & mask;
  return at;
}

void Dictionary::grow() {
  slots_.assign(std::max<std::size_t>(8, 2 * slots_.size()), 0);
  for (std::uint32_t code = 0; code < ends_.size(); ++code) slots_[slot_of(text(code))] = code + 1;
}

std::uint64_t Dictionary::heap_bytes() const { return ridge::heap_bytes(bytes_, ends_, slots_); }

}  // namespace ridge
