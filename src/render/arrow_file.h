// Arrow's IPC file (https://arrow.apache.org/docs/format/Columnar.html), written piece by piece: the columns and their texts
// first, then rows in batches. Nothing of it is held but the places of the batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>
#include <ridge/table.h>
#include <ridge/writer.h>

namespace ridge::render {

class ArrowFile {
 public:
  explicit ArrowFile(const Writer& write) : write_(write) {}

  // Names, types and units of the columns; those of texts hold the texts of all rows.
  Result<void> begin(std::span<const Column> columns);

  // Rows [first, first + rows) of each of these columns, which are those of begin() in order. `first` is a multiple of 64, and
  // texts are codes into begin()'s.
  struct Slice {
    const Column* column;
    std::size_t first;
  };
  Result<void> batch(std::span<const Slice> slices, std::size_t rows);

  Result<void> finish();

 private:
  // Where a message is, as the file's end lists them.
  struct Block {
    std::int64_t offset;
    std::int32_t metadata_bytes;
    std::int32_t padding;
    std::int64_t body_bytes;
  };
  // The buffers of a message, and what its metadata says of them.
  struct Body;

  Result<void> put(std::span<const std::string_view> pieces);
  Result<void> message(const std::string& metadata, const Body& body, std::vector<Block>* listed_in);
  Result<void> texts(std::size_t id, const Column& column);

  const Writer& write_;
  std::uint64_t written_ = 0;
  std::vector<Column> columns_;  // without values
  std::vector<Block> dictionaries_, batches_;
};

}  // namespace ridge::render
