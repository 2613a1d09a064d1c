// The messages of an Arrow file. The numbers of fields are those of Schema.fbs, Message.fbs and File.fbs of Arrow's format.
#include "render/arrow_file.h"

#include <array>

#include "render/arrow_columns.h"
#include "render/flat_buffer.h"

namespace ridge::render {
namespace {

using Place = FlatBuffer::Place;

constexpr std::string_view kMagic = "ARROW1";
constexpr std::size_t kAligned = 8;
constexpr std::array<char, kAligned> kZeros = {};
constexpr std::int16_t kVersion5 = 4;

enum class Header : std::uint8_t { schema = 1, dictionary = 2, batch = 3 };
enum class TypeId : std::uint8_t { integer = 2, floating = 3, boolean = 6, large_utf8 = 20 };

std::size_t padded(std::size_t bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; }

template <std::size_t N>
std::string_view bytes_of(const std::array<std::int32_t, N>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), sizeof numbers};
}

Place integer_type(FlatBuffer& out, std::int32_t bits, bool is_signed) {
  return out.table(2).add(0, bits).add(1, static_cast<std::uint8_t>(is_signed)).end();
}

struct FieldType {
  TypeId id;
  Place place;
};

FieldType type_of(FlatBuffer& out, Type type) {
  constexpr std::int16_t kDouble = 2;
  switch (type) {
    case Type::integer: return {TypeId::integer, integer_type(out, 64, true)};
    case Type::number: return {TypeId::floating, out.table(1).add(0, kDouble).end()};
    case Type::boolean: return {TypeId::boolean, out.table(0).end()};
    case Type::text: break;
  }
  return {TypeId::large_utf8, out.table(0).end()};
}

Place field(FlatBuffer& out, const Column& column, std::int64_t id) {
  std::vector<Place> metadata;
  if (column.unit != Unit::none) {
    const Place key = out.text("unit"), value = out.text(name_of(column.unit));
    metadata.push_back(out.table(2).point(0, key).point(1, value).end());
  }
  const Place listed = out.vector(metadata), name = out.text(column.name), children = out.vector({});
  const FieldType type = type_of(out, column.type);
  Place dictionary = 0;
  if (column.type == Type::text) {
    const Place codes = integer_type(out, 32, false);
    dictionary = out.table(4).add(0, id).point(1, codes).end();
  }
  FlatBuffer::Table table = out.table(7);
  table.point(0, name).point(3, type.place).point(5, children).point(6, listed);
  if (dictionary != 0) table.point(4, dictionary);
  return table.add(1, std::uint8_t{1}).add(2, static_cast<std::uint8_t>(type.id)).end();
}

Place schema(FlatBuffer& out, std::span<const Column> columns) {
  std::vector<Place> fields;
  for (const Column& column : columns) fields.push_back(field(out, column, static_cast<std::int64_t>(fields.size())));
  const Place listed = out.vector(fields);
  return out.table(4).point(1, listed).add(0, std::int16_t{0}).end();  // little-endian
}

std::string message_of(FlatBuffer& out, Header kind, Place header, std::size_t body_bytes) {
  const Place root = out.table(5)
                         .add(3, static_cast<std::int64_t>(body_bytes))
                         .point(2, header)
                         .add(0, kVersion5)
                         .add(1, static_cast<std::uint8_t>(kind))
                         .end();
  return out.finish(root);
}

}  // namespace

struct ArrowFile::Body {
  struct Node {
    std::int64_t length, nulls;
  };
  struct Buffer {
    std::int64_t offset, bytes;
  };
  std::vector<Node> nodes;
  std::vector<Buffer> places;
  std::vector<std::string_view> buffers;
  std::size_t bytes = 0;

  void add(const void* data, std::size_t size) {
    places.push_back({static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(size)});
    buffers.emplace_back(static_cast<const char*>(data), size);
    bytes += padded(size);
  }
  Place record_batch(FlatBuffer& out, std::size_t rows) const {
    const Place listed = out.vector_of(std::span<const Node>(nodes)), at = out.vector_of(std::span<const Buffer>(places));
    return out.table(5).add(0, static_cast<std::int64_t>(rows)).point(1, listed).point(2, at).end();
  }
};

Result<void> ArrowFile::put(std::span<const std::string_view> pieces) {
  for (const std::string_view piece : pieces) {
    written_ += piece.size();
    if (piece.empty()) continue;
    if (auto done = write_(piece); !done) return done;
  }
  return {};
}

Result<void> ArrowFile::message(const std::string& metadata, const Body& body, std::vector<Block>* listed_in) {
  const std::array<std::int32_t, 2> head = {-1, static_cast<std::int32_t>(metadata.size())};
  if (listed_in != nullptr) {
    listed_in->push_back({static_cast<std::int64_t>(written_), static_cast<std::int32_t>(sizeof head + metadata.size()), 0,
                          static_cast<std::int64_t>(body.bytes)});
  }
  std::vector<std::string_view> pieces = {bytes_of(head), metadata};
  for (const std::string_view buffer : body.buffers) {
    pieces.push_back(buffer);
    pieces.emplace_back(kZeros.data(), padded(buffer.size()) - buffer.size());
  }
  return put(pieces);
}

Result<void> ArrowFile::texts(std::size_t id, const Column& column) {
  const ArrowColumn held(column);
  Body body;
  const std::size_t count = held.texts->offsets.size() - 1;
  body.nodes.push_back({static_cast<std::int64_t>(count), 0});
  body.add(nullptr, 0);
  body.add(held.texts->offsets.data(), held.texts->offsets.size() * sizeof held.texts->offsets[0]);
  body.add(held.texts->bytes.data(), held.texts->bytes.size());
  FlatBuffer out;
  const Place batch = body.record_batch(out, count);
  const Place header = out.table(3).add(0, static_cast<std::int64_t>(id)).point(1, batch).end();
  return message(message_of(out, Header::dictionary, header, body.bytes), body, &dictionaries_);
}

Result<void> ArrowFile::begin(std::span<const Column> columns) {
  for (const Column& column : columns) columns_.push_back({column.name, column.type, column.unit});
  FlatBuffer out;
  const Place header = schema(out, columns_);
  const std::array<std::string_view, 2> magic = {kMagic, {kZeros.data(), kAligned - kMagic.size()}};
  Result<void> done = put(magic);
  if (done) done = message(message_of(out, Header::schema, header, 0), {}, nullptr);
  for (std::size_t i = 0; done && i < columns.size(); ++i) {
    if (columns[i].type == Type::text) done = texts(i, columns[i]);
  }
  return done;
}

Result<void> ArrowFile::batch(std::span<const Slice> slices, std::size_t rows) {
  constexpr std::size_t kWord = 64;
  Body body;
  const auto add_bits = [&](const Bitmap& bits, std::size_t first) {
    body.add(bits.words().subspan(first / kWord).data(), (rows + 7) / 8);
  };
  for (const Slice& slice : slices) {
    const Values& values = slice.column->values;
    std::size_t nulls = 0;
    for (std::size_t row = slice.first; row < slice.first + rows; ++row) nulls += std::size_t{!values.known(row)};
    body.nodes.push_back({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(nulls)});
    if (nulls == 0) {
      body.add(nullptr, 0);
    } else {
      add_bits(values.known(), slice.first);
    }
    const auto add_values = [&](const auto& span) {
      const auto part = std::span(span).subspan(rows == 0 ? 0 : slice.first, rows);
      body.add(part.data(), part.size_bytes());
    };
    switch (slice.column->type) {
      case Type::integer: add_values(values.integers()); break;
      case Type::number: add_values(values.numbers()); break;
      case Type::boolean: rows == 0 ? body.add(nullptr, 0) : add_bits(*values.booleans(), slice.first); break;
      case Type::text: rows == 0 ? body.add(nullptr, 0) : add_values(values.texts()->codes); break;
    }
  }
  FlatBuffer out;
  const Place header = body.record_batch(out, rows);
  return message(message_of(out, Header::batch, header, body.bytes), body, &batches_);
}

Result<void> ArrowFile::finish() {
  FlatBuffer out;
  const Place described = schema(out, columns_), batches = out.vector_of(std::span<const Block>(batches_)),
              dictionaries = out.vector_of(std::span<const Block>(dictionaries_));
  const std::string footer =
      out.finish(out.table(5).point(1, described).point(2, dictionaries).point(3, batches).add(0, kVersion5).end());
  const std::array<std::int32_t, 2> end_of_stream = {-1, 0};
  const std::array<std::int32_t, 1> footer_bytes = {static_cast<std::int32_t>(footer.size())};
  const std::array<std::string_view, 4> pieces = {bytes_of(end_of_stream), footer, bytes_of(footer_bytes), kMagic};
  return put(pieces);
}

}  // namespace ridge::render
