#include "ingest/text_cache.h"

#include <cstring>
#include <random>

namespace ridge {

TextCache::TextCache(StringPool* pool)
    : pool_(pool), seed_(std::random_device{}()), entries_(4096), mask_(entries_.size() - 1) {}

Text TextCache::admit(std::string_view raw, Sort sort, std::uint64_t hash) {
  Text text;
  if (sort == Sort::string) {
    text.repairs = decode_string(raw, &scratch_);
  } else if (!compact_json(raw, &scratch_)) {
    text.repairs = decode_string(raw, &scratch_);  // gives valid UTF-8 at least
    text.repairs = {};
    text.repairs.add(Problem::damaged_value);
  }
  text.id = pool_->intern(scratch_);
  if (raw.size() <= kLongestKept) remember(raw, hash, text);
  return text;
}

void TextCache::remember(std::string_view raw, std::uint64_t hash, const Text& text) {
  if (used_ >= kMostEntries) {
    std::fill(entries_.begin(), entries_.end(), Entry{});
    arena_ = Arena{};
    used_ = 0;
  } else if ((used_ + 1) * 2 > entries_.size()) {
    grow();
  }
  const char* bytes = pool_->at(text.id).data();
  if (scratch_ != raw) {
    char* copy = arena_.allocate<char>(raw.size());
    std::memcpy(copy, raw.data(), raw.size());
    bytes = copy;
  }
  std::size_t i = hash & mask_;
  while (entries_[i].bytes != nullptr) i = (i + 1) & mask_;
  entries_[i] = {hash, bytes, static_cast<std::uint32_t>(raw.size()), text.id, text.repairs};
  ++used_;
}

void TextCache::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  mask_ = entries_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.bytes == nullptr) continue;
    std::size_t i = entry.hash & mask_;
    while (entries_[i].bytes != nullptr) i = (i + 1) & mask_;
    entries_[i] = entry;
  }
}

}  // namespace ridge
