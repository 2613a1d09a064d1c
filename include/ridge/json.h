// JSON as ridge writes it, the one place of its escapes, digits and commas; made in src/base/json_writer.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ridge {

// Text as a JSON string with its quotes, behind `out`. Bad UTF-8 becomes U+FFFD, so that the result is always valid JSON.
//
// A text that takes more than `longest` bytes between its quotes is its beginning, an ellipsis, how many bytes are left out and
// a digest of the whole, in at most `longest` bytes, of which there must be 100. Equal texts stay equal, and different ones
// different. 0: every text is whole.
void append_json_string(std::string& out, std::string_view text, std::size_t longest = 0);

// What stands for `text` where texts are shortened so.
std::string short_text(std::string_view text, std::size_t longest);

// The digits of an integer; of a double the shortest that read back as the same, without a fraction where it has none, and null
// where it is not finite.
void append_json_number(std::string& out, std::int64_t value);
void append_json_number(std::string& out, std::uint64_t value);
void append_json_number(std::string& out, double value);

// A text of which nothing is known when it is empty.
struct TextOrNull {
  std::string_view text;
};

// Writes JSON text piece by piece: commas and escapes are its business, the shape is the caller's. An object whose members are
// plain values is one call: record("id", 7, "name", "aten::mm", "busy", shares).
class JsonWriter {
 public:
  // Texts of more than `longest_text` bytes are shortened, see append_json_string(); 0: none.
  explicit JsonWriter(std::size_t longest_text = 0) : longest_text_(longest_text) {}

  std::string take() { return std::move(out_); }

  JsonWriter& key(std::string_view name) {
    comma();
    append_json_string(out_, name, longest_text_);
    out_ += ':';
    fresh_ = true;
    return *this;
  }

  void text(std::string_view value) { comma(), append_json_string(out_, value, longest_text_); }
  void text_or_null(std::string_view value) { value.empty() ? null() : text(value); }
  void null() { raw("null"); }
  void raw(std::string_view json) { comma(), out_ += json; }
  void number(std::int64_t value) { comma(), append_json_number(out_, value); }
  void number(std::uint64_t value) { comma(), append_json_number(out_, value); }
  void number(std::uint32_t value) { number(std::uint64_t{value}); }
  void number(std::uint8_t value) { number(std::uint64_t{value}); }
  void number(double value) { comma(), append_json_number(out_, value); }
  template <class T>
  void number(const std::optional<T>& value) {
    value ? number(*value) : null();
  }

  // Whatever a member may hold: texts, numbers (nullopt is null), and lists of either.
  template <class Value>
  void value(const Value& value) {
    if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      text(value);
    } else if constexpr (std::is_same_v<Value, TextOrNull>) {
      text_or_null(value.text);
    } else if constexpr (requires { number(value); }) {
      number(value);
    } else {
      array(value, [&](const auto& each) { this->value(each); });
    }
  }
  void members() {}
  template <class Value, class... Rest>
  void members(std::string_view name, const Value& first, const Rest&... rest) {
    key(name).value(first);
    members(rest...);
  }
  template <class... Members>
  void record(const Members&... all) {
    object([&] { members(all...); });
  }

  template <class Fill>
  void object(Fill fill) {
    open('{'), fill(), close('}');
  }
  // Each element by `write(element)`.
  template <class Elements, class Write>
  void array(const Elements& elements, Write write) {
    open('[');
    for (const auto& element : elements) write(element);
    close(']');
  }

 private:
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    fresh_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    fresh_ = false;
  }

  std::size_t longest_text_;
  std::string out_;
  bool fresh_ = true;  // nothing stands before the next value that a comma would part it from
};

}  // namespace ridge
