// Open addressing over the raw bytes; a text that needs no decoding is not copied.
#include "ingest/text_cache.h"

#include <cstring>
#include <random>

namespace ridge {

TextCache::TextCache(StringPool* pool)
    : pool_(pool), seed_(std::random_device{}()), entries_(4096), mask_(entries_.size() - 1) {}

Text TextCache::admit(std::string_view raw, Sort sort, std::uint64_t hash) {
  Text text;
  std::string_view meaning = raw;
  if (sort == Sort::json || !is_plain_text(raw)) {
    if (sort == Sort::string) {
      text.repairs = decode_string(raw, &scratch_);
    } else if (!compact_json(raw, &scratch_)) {
      decode_string(raw, &scratch_);  // gives valid UTF-8 at least
      text.repairs.add(Problem::damaged_value);
    }
    meaning = scratch_;
  }
  text.id = pool_->intern(meaning);
  if (raw.size() <= kLongestKept) remember(raw, meaning == raw, hash, text);
  return text;
}

// `plain`: the pool's text is the raw one, byte by byte.
void TextCache::remember(std::string_view raw, bool plain, std::uint64_t hash, const Text& text) {
  if (used_ >= kMostEntries) {
    std::fill(entries_.begin(), entries_.end(), Entry{});
    arena_ = Arena{};
    used_ = 0;
  } else if ((used_ + 1) * 2 > entries_.size()) {
    grow();
  }
  const char* bytes = pool_->at(text.id).data();
  if (!plain) {
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
