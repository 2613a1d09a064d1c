// TextCache: a parser's private door to the StringPool. Maps the bytes of a value as they stand in the file to the pool's id of
// their meaning, so that decoding, validation and the pool's lock are paid once per distinct text and parser, not once per
// event. Bounded: when full it forgets everything and starts anew; correctness does not depend on what it remembers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/string_pool.h"
#include "ingest/json_text.h"
#include "ingest/scan.h"

namespace ridge {

struct Text {
  StringId id;
  Repairs repairs;  // what had to be mended; none for a valid text
};

class TextCache {
 public:
  explicit TextCache(StringPool* pool);

  Text string(std::string_view raw) { return look_up(raw, Sort::string); }
  // A list or object. When it is not valid JSON the text is kept as it stands, with Problem::damaged_value.
  Text json(std::string_view raw) { return look_up(raw, Sort::json); }

 private:
  enum class Sort : std::uint8_t { string, json };

  struct Entry {
    std::uint64_t hash = 0;
    const char* bytes = nullptr;  // nullptr: free
    std::uint32_t size = 0;
    StringId id;
    Repairs repairs;
  };
  static constexpr std::size_t kMostEntries = std::size_t{1} << 16;
  static constexpr std::size_t kLongestKept = std::size_t{1} << 16;

  Text look_up(std::string_view raw, Sort sort) {
    const std::uint64_t hash = hash_text(raw, seed_ + static_cast<std::uint64_t>(sort));
    for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
      const Entry& entry = entries_[i];
      if (entry.bytes == nullptr) return admit(raw, sort, hash);
      if (entry.hash == hash && entry.size == raw.size() && equal_bytes(entry.bytes, raw.data(), raw.size()))
        return {entry.id, entry.repairs};
    }
  }
  Text admit(std::string_view raw, Sort sort, std::uint64_t hash);
  void remember(std::string_view raw, bool plain, std::uint64_t hash, const Text& text);
  void grow();

  StringPool* pool_;
  std::uint64_t seed_;
  std::vector<Entry> entries_;
  std::size_t mask_;
  std::size_t used_ = 0;
  Arena arena_;  // bytes of raw texts that differ from their meaning
  std::string scratch_;
};

}  // namespace ridge
