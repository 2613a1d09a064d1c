// A column as Arrow's formats want it: which buffers it has and where they lie. What the C data interface and the file format
// share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/table.h>

namespace ridge::render {

// The texts of a column: offsets[i] to offsets[i + 1] of `bytes`. Valid UTF-8.
struct ArrowTexts {
  explicit ArrowTexts(const Dictionary& dictionary);

  std::vector<std::int64_t> offsets;  // one more than texts
  std::string_view bytes;             // of the dictionary, or of `repaired`
  std::string repaired;               // where the dictionary is not valid UTF-8
};

struct ArrowColumn {
  explicit ArrowColumn(const Column& column);

  const Column& column;
  std::int64_t null_count;
  const void* mask;  // null: every value is known
  std::size_t mask_bytes;
  const void* values;  // of texts their codes
  std::size_t value_bytes;
  std::unique_ptr<const ArrowTexts> texts;  // null: a column of another type
};

}  // namespace ridge::render
