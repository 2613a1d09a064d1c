// Percent-decoding, the checks of a target, and typed access to its parameters.
#include "query.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <ridge/argument_list.h>
#include <ridge/render.h>

namespace ridge::server {
namespace {

constexpr std::size_t kMostIds = 4096;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Nothing for a broken escape or a NUL.
std::optional<std::string> decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i] == '+' ? ' ' : text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    out += c;
  }
  return out;
}

void encode(std::string_view text, std::string* out) {
  constexpr std::string_view kPlain = "-_.~,";
  for (const char c : text) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kPlain.find(c) != std::string_view::npos;
    if (plain) {
      *out += c;
    } else {
      fmt::format_to(std::back_inserter(*out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

bool is_odd(char c) { return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7F || c == '#'; }

tl::unexpected<Error> refused(std::string message) { return fail(ErrorCode::usage, std::move(message)); }

Result<void> add_parameter(std::string_view pair, Target* target) {
  const std::size_t equals = pair.find('=');
  const auto name = decode(pair.substr(0, equals));
  const auto value = decode(equals == std::string_view::npos ? "" : pair.substr(equals + 1));
  if (!name || !value || name->empty()) return refused("malformed query parameter");
  if (!is_valid_utf8(*name) || !is_valid_utf8(*value)) return refused("query parameter is not UTF-8");
  if (target->query.size() >= kMostParameters) return refused("too many query parameters");
  if (value->find(kListSeparator) != std::string::npos) return refused("malformed query parameter");
  const auto [known, fresh] = target->query.try_emplace(*name, *value);
  if (fresh) return {};
  if (known->second.size() > kLongestTarget) return refused("too many query parameters");
  known->second += kListSeparator + *value;
  target->repeated.insert(*name);
  return {};
}

template <class Number>
bool read(std::string_view text, Number* number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc{} && stop == end && !text.empty();
}

}  // namespace

std::string Target::canonical() const {
  std::string out = path;
  char before = '?';
  for (const auto& [name, value] : query) {
    out += before;
    encode(name, &out);
    out += '=';
    encode(value, &out);
    before = '&';
  }
  return out;
}

Result<Target> parse_target(std::string_view text) {
  if (text.size() > kLongestTarget) return refused("URL too long");
  if (!text.starts_with('/') || std::any_of(text.begin(), text.end(), is_odd)) return refused("malformed URL");
  Target target;
  const std::size_t mark = text.find('?');
  target.path = text.substr(0, mark);
  if (mark == std::string_view::npos) return target;
  std::string_view rest = text.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    if (end > 0) {
      const auto added = add_parameter(rest.substr(0, end), &target);
      if (!added) return tl::unexpected(added.error());
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return target;
}

const std::string* Parameters::find(std::string_view name) {
  asked_.push_back(name);
  const auto it = target_.query.find(name);
  return it == target_.query.end() ? nullptr : &it->second;
}

void Parameters::refuse(std::string message) {
  if (error_.empty()) error_ = std::move(message);
}

std::int64_t Parameters::integer(std::string_view name, std::optional<std::int64_t> otherwise, std::int64_t least,
                                 std::int64_t most) {
  const std::string* text = find(name);
  std::int64_t value = otherwise.value_or(least);
  if (text == nullptr) {
    if (!otherwise) refuse(fmt::format("'{}' is missing", name));
  } else if (!read(*text, &value) || value < least || value > most) {
    refuse(least == most ? fmt::format("'{}' can only be {}", name, least)
                         : fmt::format("'{}' must be a whole number from {} to {}", name, least, most));
    return least;
  }
  return value;
}

std::string Parameters::text(std::string_view name, std::optional<std::string> otherwise) {
  const std::string* text = find(name);
  if (text != nullptr) return *text;
  if (!otherwise) refuse(fmt::format("'{}' is missing", name));
  return otherwise.value_or("");
}

std::optional<std::vector<std::uint32_t>> Parameters::ids(std::string_view name) {
  const std::string* text = find(name);
  if (text == nullptr) return std::nullopt;
  std::vector<std::uint32_t> out;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::uint32_t id = 0;
    if (!read(rest.substr(0, end), &id) || out.size() >= kMostIds) {
      refuse(fmt::format("'{}' must be a list of ids such as 1,2,3", name));
      return std::nullopt;
    }
    out.push_back(id);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

Result<void> Parameters::finish() const {
  if (!error_.empty()) return refused(error_);
  for (const auto& [name, value] : target_.query) {
    if (std::find(asked_.begin(), asked_.end(), name) == asked_.end())
      return refused(fmt::format("unknown parameter '{}'", printable(name)));
  }
  if (!target_.repeated.empty()) return refused("duplicate query parameter");
  return {};
}

}  // namespace ridge::server
