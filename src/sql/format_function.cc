// One conversion at a time, by the C library.
#include "sql/format_function.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace ridge::sql {
namespace {

constexpr int kWidest = 1000;
constexpr int kLongestText = 1 << 20;  // of any value, see connection.cc

constexpr const char* kWidthError = "printf: widths and precisions go up to 1000";

struct Conversion {
  std::string flags;
  int width = 0;
  int precision = -1;  // none
  char letter = 0;
};

// The values behind the format, one after the other; null where there are no more.
class Values {
 public:
  Values(int count, sqlite3_value** values) : count_(count), values_(values) {}
  sqlite3_value* next() { return next_ < count_ ? values_[next_++] : nullptr; }
  std::int64_t integer() {
    sqlite3_value* const value = next();
    return value == nullptr ? 0 : sqlite3_value_int64(value);
  }
  double number() {
    sqlite3_value* const value = next();
    return value == nullptr ? 0 : sqlite3_value_double(value);
  }
  std::string_view text() {
    sqlite3_value* const value = next();
    const auto* text = value == nullptr ? nullptr : reinterpret_cast<const char*>(sqlite3_value_text(value));
    return text == nullptr ? std::string_view() : std::string_view(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
  }

 private:
  int next_ = 1;
  const int count_;
  sqlite3_value** const values_;
};

// A number or a star at the front of the format; false: too large.
bool read_size(std::string_view* format, Values* values, int* size) {
  if (format->starts_with('*')) {
    format->remove_prefix(1);
    const std::int64_t given = values->integer();
    *size = static_cast<int>(std::clamp<std::int64_t>(given, -kLongestText - 1, kLongestText + 1));
    return given <= kWidest && given >= -kWidest;
  }
  for (*size = 0; !format->empty() && format->front() >= '0' && format->front() <= '9'; format->remove_prefix(1)) {
    *size = *size * 10 + (format->front() - '0');
    if (*size > kLongestText) return false;
  }
  return *size <= kWidest;
}

// Behind the percent sign.
bool read_conversion(std::string_view* format, Values* values, Conversion* out) {
  for (; !format->empty() && std::string_view("-+ 0#,").find(format->front()) != std::string_view::npos;
       format->remove_prefix(1))
    out->flags += format->front();
  if (!read_size(format, values, &out->width)) return false;
  if (out->width < 0) {
    out->flags += '-';
    out->width = -out->width;
  }
  if (format->starts_with('.')) {
    format->remove_prefix(1);
    if (!read_size(format, values, &out->precision)) return false;
    out->precision = std::max(out->precision, 0);
  }
  while (format->starts_with('l')) format->remove_prefix(1);
  if (!format->empty()) {
    out->letter = format->front();
    format->remove_prefix(1);
  }
  return true;
}

template <class Value>
std::string printed(const Conversion& c, const char* length, Value value) {
  std::string format = "%" + c.flags;
  std::erase(format, ',');
  if (c.width > 0) format += std::to_string(c.width);
  if (c.precision >= 0) format += "." + std::to_string(c.precision);
  format += length;
  format += c.letter;
  std::array<char, 4096> room{};  // a double has some 300 digits before the point
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int size = std::snprintf(room.data(), room.size(), format.c_str(), value);
#pragma GCC diagnostic pop
  return {room.data(), static_cast<std::size_t>(std::clamp<int>(size, 0, static_cast<int>(room.size()) - 1))};
}

std::string with_thousands(std::string text) {
  const std::size_t first = text.find_first_of("0123456789");
  const std::size_t end = std::min(text.find_first_not_of("0123456789", first), text.size());
  for (std::size_t at = end; first != std::string::npos && at > first + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string padded(const Conversion& c, std::string_view text) {
  if (c.precision >= 0) text = text.substr(0, static_cast<std::size_t>(c.precision));
  const std::size_t missing =
      text.size() < static_cast<std::size_t>(c.width) ? static_cast<std::size_t>(c.width) - text.size() : 0;
  const bool left = c.flags.find('-') != std::string::npos;
  return (left ? std::string() : std::string(missing, ' ')) + std::string(text) +
         (left ? std::string(missing, ' ') : std::string());
}

std::string_view first_character(std::string_view text) {
  std::size_t size = std::min<std::size_t>(text.size(), 1);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) ++size;
  return text.substr(0, size);
}

// %c takes its precision for how often.
std::string repeated(std::string_view character, int times) {
  std::string out(character);
  for (int i = 1; i < times; ++i) out += character;
  return out;
}

// False: no such conversion.
bool convert(const Conversion& c, Values* values, std::string* out) {
  const bool thousands = c.flags.find(',') != std::string::npos;
  switch (c.letter) {
    case '%': *out += '%'; return true;
    case 'd':
    case 'i': {
      const std::string text = printed(c, "ll", static_cast<long long>(values->integer()));
      *out += thousands ? with_thousands(text) : text;
      return true;
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': *out += printed(c, "ll", static_cast<unsigned long long>(values->integer())); return true;
    case 'f':
    case 'e':
    case 'E':
    case 'g':
    case 'G': *out += printed(c, "", values->number()); return true;
    case 's':
    case 'z': *out += padded(c, values->text()); return true;
    case 'c': {  // its width counts characters, not bytes
      const std::string text = repeated(first_character(values->text()), c.precision);
      const int characters = std::max(c.precision, 1);
      const int width = c.width + std::max(static_cast<int>(text.size()) - characters, 0);
      *out += padded({c.flags, c.width > 0 ? width : 0, -1, c.letter}, text);
      return true;
    }
    default: return false;
  }
}

}  // namespace

void call_format(sqlite3_context* out, int count, sqlite3_value** values) {
  if (count == 0 || sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  Values rest(count, values);
  std::string_view format(reinterpret_cast<const char*>(sqlite3_value_text(values[0])),
                          static_cast<std::size_t>(sqlite3_value_bytes(values[0])));
  std::string made;
  while (!format.empty()) {
    const std::size_t percent = std::min(format.find('%'), format.size());
    made += format.substr(0, percent);
    format.remove_prefix(percent);
    if (format.empty()) break;
    format.remove_prefix(1);
    Conversion conversion;
    if (!read_conversion(&format, &rest, &conversion)) {
      const bool too_long = std::max(std::abs(conversion.width), std::abs(conversion.precision)) > kLongestText;
      return too_long ? sqlite3_result_error_toobig(out) : sqlite3_result_error(out, kWidthError, -1);
    }
    if (!convert(conversion, &rest, &made))
      return sqlite3_result_error(out, "printf: %d %i %u %x %o %f %e %g %s %c and %% are known, with widths up to 1000", -1);
  }
  sqlite3_result_text64(out, made.data(), made.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace ridge::sql
