// A decoder that replaces what is invalid and counts it, and a validator that also compacts, of any depth.
#include "ingest/json_text.h"

#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "ingest/number.h"
#include "ingest/scan.h"

namespace ridge {
namespace {

// The four hex digits at text[at...]; -1 when they are not there.
int hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

// The open brackets of a JSON text of any depth, the innermost 64 in a word.
class OpenBrackets {
 public:
  bool empty() const { return depth_ == 0; }
  std::size_t depth() const { return depth_; }
  bool in_object() const { return (inner_ & 1) != 0; }  // of the innermost
  void open(bool object) {
    if (depth_ % 64 == 0 && depth_ != 0) outer_.push_back(inner_);
    ++depth_;
    inner_ = inner_ << 1 | (object ? 1U : 0U);
  }
  void close() {
    --depth_;
    inner_ >>= 1;
    if (depth_ % 64 != 0 || depth_ == 0) return;
    inner_ = outer_.back();
    outer_.pop_back();
  }

 private:
  std::uint64_t inner_ = 0;
  std::size_t depth_ = 0;
  std::vector<std::uint64_t> outer_;
};

constexpr std::string_view kEscapes = "\"\\/bfnrt";
constexpr std::string_view kEscaped = "\"\\/\b\f\n\r\t";

bool has_unknown_escape(std::string_view raw) {
  for (std::size_t i = raw.find('\\'); i != std::string_view::npos; i = raw.find('\\', i)) {
    const char next = i + 1 < raw.size() ? raw[i + 1] : '\0';
    const bool known = next == 'u' ? hex4(raw, i + 2) >= 0 : next != '\0' && kEscapes.find(next) != std::string_view::npos;
    if (!known) return true;
    i += 2;
  }
  return false;
}

// Decodes the \uXXXX at raw[i] (a pair when it is one) and returns the bytes it took.
std::size_t decode_unicode_escape(std::string_view raw, std::size_t i, std::string* out, Repairs* repairs) {
  const auto unit = static_cast<std::uint32_t>(hex4(raw, i + 2));
  const bool high = unit >= 0xD800 && unit <= 0xDBFF, low = unit >= 0xDC00 && unit <= 0xDFFF;
  if (high && i + 7 < raw.size() && raw[i + 6] == '\\' && raw[i + 7] == 'u') {
    const int second = hex4(raw, i + 8);
    if (second >= 0xDC00 && second <= 0xDFFF) {
      append_utf8(*out, 0x10000 + ((unit - 0xD800) << 10) + (static_cast<std::uint32_t>(second) - 0xDC00));
      return 12;
    }
  }
  if (high || low) {
    repairs->add(Problem::lone_surrogate);
    out->append(kReplacementText);
  } else {
    append_utf8(*out, unit);
  }
  return 6;
}

}  // namespace

bool is_plain_text(std::string_view raw) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
  const auto plain = [&](std::uint64_t w) {
    const std::uint64_t control = w - kOnes * 0x20;  // borrows where a byte is below 0x20
    const std::uint64_t slash = w ^ (kOnes * '\\');
    return ((w | (control & ~w) | ((slash - kOnes) & ~slash)) & kHigh) == 0;
  };
  std::size_t i = 0;
  for (; i + 8 <= raw.size(); i += 8) {
    if (!plain(load64(raw.data() + i))) return false;
  }
  return std::all_of(raw.begin() + static_cast<std::ptrdiff_t>(i), raw.end(),
                     [](char c) { return c >= 0x20 && c < 0x7F && c != '\\'; });
}

Repairs decode_string(std::string_view raw, std::string* out) {
  Repairs repairs;
  out->clear();
  const bool unescaped = has_unknown_escape(raw);
  if (unescaped) repairs.add(Problem::invalid_escape);
  for (std::size_t i = 0; i < raw.size();) {
    const auto c = static_cast<unsigned char>(raw[i]);
    if (c == '\\') {
      const char next = i + 1 < raw.size() ? raw[i + 1] : '\0';
      const bool mark = next == '"' || next == '\\' || next == '/';
      if (unescaped && !mark) {
        out->push_back('\\');
        ++i;
      } else if (next == 'u') {
        i += decode_unicode_escape(raw, i, out, &repairs);
      } else {
        out->push_back(kEscaped[kEscapes.find(next)]);
        i += 2;
      }
    } else if (c < 0x80) {
      if (c < 0x20) repairs.add(Problem::control_character);
      out->push_back(raw[i++]);
    } else {
      const CodePoint point = first_code_point(raw.substr(i));
      if (point.valid) {
        out->append(raw, i, point.bytes);
        i += point.bytes;
      } else {  // one for each byte
        repairs.add(Problem::invalid_utf8);
        out->append(kReplacementText);
        ++i;
      }
    }
  }
  return repairs;
}

bool is_written_as(std::string_view raw, std::string_view text) {
  if (raw.size() <= text.size() || raw.find('\\') == std::string_view::npos)
    return raw == text;  // no escape is shorter than what it stands for
  std::string decoded;
  decode_string(raw, &decoded);
  return decoded == text;
}

namespace {

// Walks over a JSON value; `out`, unless null, receives it without white space.
JsonState walk_json(std::string_view raw, std::size_t deepest, std::string* out) {
  OpenBrackets open;
  std::string decoded;
  enum { value, value_or_close, key, key_or_close, colon, separator } expect = value;
  std::size_t i = 0;
  std::size_t kept = 0;  // where the stretch without white space starts that is not yet in `out`
  const auto keep = [&] {
    if (out != nullptr) out->append(raw, kept, i - kept);
  };
  const auto string_end =
      [&](std::size_t at) {  // past the closing quote of a well-formed string; npos; beyond the end where there is none
        std::size_t end = raw.find('"', at + 1);
        if (end != std::string_view::npos && is_plain_text(raw.substr(at + 1, end - at - 1))) return end + 1;
        end = at + 1;
        while (end < raw.size() && raw[end] != '"') end += raw[end] == '\\' ? 2U : 1U;
        if (end >= raw.size()) return raw.size() + 1;
        return decode_string(raw.substr(at + 1, end - at - 1), &decoded).any() ? std::string_view::npos : end + 1;
      };
  for (;;) {
    if (i < raw.size() && is_space(raw[i])) {
      keep();
      while (i < raw.size() && is_space(raw[i])) ++i;
      kept = i;
    }
    if (i == raw.size()) {
      keep();
      return expect == separator && open.empty() ? JsonState::whole : JsonState::unfinished;
    }
    if (expect == separator && open.empty()) return JsonState::invalid;
    const char c = raw[i];
    std::size_t end = i + 1;
    switch (expect) {
      case separator:
        if (c == ',') {
          expect = open.in_object() ? key : value;
        } else if (c == (open.in_object() ? '}' : ']')) {
          open.close();
        } else {
          return JsonState::invalid;
        }
        break;
      case colon:
        if (c != ':') return JsonState::invalid;
        expect = value;
        break;
      case key:
      case key_or_close:
        if (c == '}' && expect == key_or_close) {
          open.close();
          expect = separator;
        } else {
          if (c != '"' || (end = string_end(i)) == std::string_view::npos) return JsonState::invalid;
          if (end > raw.size()) return JsonState::unfinished;
          expect = colon;
        }
        break;
      case value:
      case value_or_close:
        if (c == ']' && expect == value_or_close) {
          open.close();
          expect = separator;
        } else if (c == '[' || c == '{') {
          if (open.depth() >= deepest) return JsonState::invalid;
          open.open(c == '{');
          expect = c == '{' ? key_or_close : value_or_close;
        } else if (c == '"') {
          if ((end = string_end(i)) == std::string_view::npos) return JsonState::invalid;
          if (end > raw.size()) return JsonState::unfinished;
          expect = separator;
        } else {
          while (end < raw.size() && raw[end] != ',' && raw[end] != ']' && raw[end] != '}' && !is_space(raw[end])) ++end;
          const std::string_view token = raw.substr(i, end - i);
          if (end == raw.size() && !open.empty()) return JsonState::unfinished;
          if (!is_json_number(token) && token != "true" && token != "false" && token != "null") return JsonState::invalid;
          expect = separator;
        }
        break;
    }
    visited(raw.data() + i, raw.data() + end);
    i = end;
  }
}

}  // namespace

bool compact_json(std::string_view raw, std::string* out) {
  out->clear();
  return walk_json(raw, SIZE_MAX, out) == JsonState::whole;
}

JsonState check_json(std::string_view raw, std::size_t deepest) { return walk_json(raw, deepest, nullptr); }

}  // namespace ridge
