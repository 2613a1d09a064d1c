// One row per flag with the function that sets it; sizes such as 4G or 512MiB are read here too.
#include "flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace ridge::cli {
namespace {

struct Suffix {
  std::string_view text;  // lower case, without the final b
  double factor;
};
constexpr std::array kSuffixes = {
    Suffix{"", 1},
    Suffix{"k", 1e3},
    Suffix{"m", 1e6},
    Suffix{"g", 1e9},
    Suffix{"t", 1e12},
    Suffix{"ki", 1024},
    Suffix{"mi", 1024.0 * 1024},
    Suffix{"gi", 1024.0 * 1024 * 1024},
    Suffix{"ti", 1024.0 * 1024 * 1024 * 1024},
};

template <class Number>
bool parse_whole(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

Result<void> bad_value(std::string_view flag, std::string_view text, std::string hint) {
  return fail(ErrorCode::usage, fmt::format("invalid value '{}' for {}", text, flag), {}, std::move(hint));
}

Result<void> set_format(Settings& settings, const std::string& text) {
  return find_format(text).map([&](const Format* format) { settings.format = format; });
}

Result<void> set_json(Settings& settings, const std::string&) { return set_format(settings, "json"); }

Result<void> set_output(Settings& settings, const std::string& text) {
  if (text.empty()) return bad_value("--output", text, "give a file, or - for standard output");
  settings.output = text;
  return {};
}

Result<void> set_limit(Settings& settings, const std::string& text) {
  std::int64_t rows = 0;
  if (!parse_whole(text, rows) || rows < 0) return bad_value("--limit", text, "give a number of rows, or 0 for all");
  settings.limit = rows;
  return {};
}

Result<void> set_sort(Settings& settings, const std::string& text) {
  if (text.empty()) return bad_value("--sort", text, "give the name of a column, -COLUMN for the other way round");
  settings.sort = text;
  return {};
}

Result<void> set_threads(Settings& settings, const std::string& text) {
  constexpr unsigned kMostThreads = 4096;
  unsigned threads = 0;
  if (!parse_whole(text, threads) || threads > kMostThreads) {
    return bad_value("--threads", text, fmt::format("give a number of threads up to {}, or 0 for one per core", kMostThreads));
  }
  settings.threads = threads;
  return {};
}

Result<void> set_max_bytes(Settings& settings, const std::string& text) {
  return parse_byte_count(text).map([&](std::uint64_t bytes) { settings.max_bytes = bytes; });
}

// Given once per trace; the order is theirs.
Result<void> add_capture(Settings& settings, const std::string& text) {
  if (text.empty()) return bad_value("--capture", text, "give the trace of the capture, or - for none");
  settings.captures.push_back(text);
  return {};
}

template <bool Settings::* Member, bool Value>
Result<void> set_switch(Settings& settings, const std::string&) {
  settings.*Member = Value;
  return {};
}

constexpr std::array kFlags = {
    Flag{"-f,--format", "NAME", "output format: table, json, csv, md, svg", set_format, true},
    Flag{"--json", "", "the same as --format json", set_json, true},
    Flag{"-o,--output", "FILE", "write to FILE, which appears only when complete", set_output},
    Flag{"-n,--limit", "N", "rows per table, 0 for all (default: 20 for table and md, all for json and csv)", set_limit, true},
    Flag{"--sort", "COLUMN", "sort by COLUMN, numbers descending, text ascending; -COLUMN reverses", set_sort, true},
    Flag{"--wide", "", "all columns of a table, however long its lines", set_switch<&Settings::wide, true>, true},
    Flag{"--threads", "N", "number of threads (default: one per core)", set_threads},
    Flag{"--max-bytes", "SIZE", "largest uncompressed trace to read: 4G, 512MiB", set_max_bytes},
    Flag{"--capture", "FILE", "trace with the capture of the graphs that TRACE replays; once per TRACE, - for none",
         add_capture},
    Flag{"-q,--quiet", "", "no warnings, no progress bar", set_switch<&Settings::quiet, true>},
    Flag{"--no-color", "", "no colours; NO_COLOR=1 does the same", set_switch<&Settings::color, false>},
    Flag{"-h,--help", "", "show help for the command", set_switch<&Settings::help, true>},
    Flag{"--version", "", "print the version", set_switch<&Settings::version, true>},
};

}  // namespace

std::span<const Flag> flags() { return kFlags; }

Result<std::uint64_t> parse_byte_count(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  std::string suffix(stop, end);
  std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (suffix.ends_with('b')) suffix.pop_back();
  const auto found = std::ranges::find(kSuffixes, suffix, &Suffix::text);
  const bool good = error == std::errc{} && found != kSuffixes.end() && number > 0;
  const double bytes = good ? number * found->factor : 0;
  if (bytes < 1 || bytes >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) {
    return fail(ErrorCode::usage, fmt::format("--max-bytes: invalid size '{}'", text), {}, "examples: 4096, 64k, 1.5G, 2GiB");
  }
  return static_cast<std::uint64_t>(std::llround(bytes));
}

}  // namespace ridge::cli
