// FlatBuffer: writes what https://flatbuffers.dev reads, as much of it as Arrow's metadata needs: tables, texts, vectors of
// offsets and of structures. It is built from its end to its beginning, so that what is pointed to is there before what points;
// a Place is the distance from the end. Metadata is small: each piece is put in front of the others as it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge::render {

class FlatBuffer {
 public:
  using Place = std::uint32_t;

  Place text(std::string_view text) {
    align(sizeof(std::uint32_t), text.size() + 1);
    bytes_.insert(0, 1, '\0');
    bytes_.insert(0, text);
    return number(static_cast<std::uint32_t>(text.size()));
  }

  Place vector(std::span<const Place> of) {
    align(sizeof(std::uint32_t));
    for (std::size_t i = of.size(); i > 0; --i) offset(of[i - 1]);
    return number(static_cast<std::uint32_t>(of.size()));
  }

  // Of structures that are aligned to 8 bytes.
  template <class Struct>
  Place vector_of(std::span<const Struct> of) {
    static_assert(alignof(Struct) == 8);
    align(alignof(Struct), of.size_bytes());
    bytes_.insert(0, reinterpret_cast<const char*>(of.data()), of.size_bytes());
    return number(static_cast<std::uint32_t>(of.size()));
  }

  // A table: its fields one by one, then end(). Whatever they point to is there before the first.
  class Table {
   public:
    Table(FlatBuffer* buffer, std::size_t fields) : buffer_(*buffer), places_(fields), end_(buffer->bytes_.size()) {}

    template <class Number>
    Table& add(std::size_t field, Number value) {
      places_[field] = buffer_.number(value);
      return *this;
    }
    Table& point(std::size_t field, Place to) {
      places_[field] = buffer_.offset(to);
      return *this;
    }
    // In front of the table stands the list of where its fields are.
    Place end() {
      const auto list_bytes = static_cast<std::uint16_t>(2 * sizeof(std::uint16_t) + places_.size() * sizeof(std::uint16_t));
      const Place table = buffer_.number(static_cast<std::int32_t>(list_bytes));
      for (std::size_t i = places_.size(); i > 0; --i) {
        const Place at = places_[i - 1];
        buffer_.number(static_cast<std::uint16_t>(at == 0 ? 0 : table - at));
      }
      buffer_.number(static_cast<std::uint16_t>(table - end_));
      buffer_.number(list_bytes);
      return table;
    }

   private:
    FlatBuffer& buffer_;
    std::vector<Place> places_;  // 0: has its default value
    const std::size_t end_;
  };

  Table table(std::size_t fields) { return {this, fields}; }

  // The whole, a multiple of 8 bytes.
  std::string finish(Place root) {
    align(8, sizeof(std::uint32_t));
    offset(root);
    return std::move(bytes_);
  }

 private:
  // Room so that what follows, of that many bytes, ends up aligned.
  void align(std::size_t to, std::size_t bytes = 0) {
    const std::size_t over = (bytes_.size() + bytes) % to;
    if (over != 0) bytes_.insert(0, to - over, '\0');
  }
  template <class Number>
  Place number(Number value) {
    align(sizeof value);
    bytes_.insert(0, reinterpret_cast<const char*>(&value), sizeof value);
    return static_cast<Place>(bytes_.size());
  }
  Place offset(Place to) {
    align(sizeof(std::uint32_t));
    return number(static_cast<std::uint32_t>(bytes_.size() + sizeof(std::uint32_t) - to));
  }

  std::string bytes_;
};

}  // namespace ridge::render
