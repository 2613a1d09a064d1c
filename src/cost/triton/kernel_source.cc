// The hash by which Inductor names a kernel's file, and the verdict: matches, differs, missing.
#include "cost/triton/kernel_source.h"

#include "base/sha256.h"

namespace ridge {
namespace {

// The first `characters` of base32, in lower case.
std::string base32(const Sha256Digest& bytes, std::size_t characters) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string out;
  for (std::size_t bit = 0; out.size() < characters; bit += 5) {
    const std::size_t at = bit / 8;
    const unsigned pair = static_cast<unsigned>(bytes[at]) << 8 | (at + 1 < bytes.size() ? bytes[at + 1] : 0U);
    out += kAlphabet[pair >> (11 - bit % 8) & 31];
  }
  return out;
}

// White space as Python's str.strip() sees it in ASCII.
std::string_view stripped(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\v\f\x1c\x1d\x1e\x1f";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace

std::string kernel_source_hash(std::string_view text) { return "c" + base32(sha256(stripped(text)), 51); }

std::string_view name_of(SourceMatch match) {
  constexpr std::string_view kNames[] = {"matches", "differs", "missing", "unknown"};
  return kNames[static_cast<std::size_t>(match)];
}

SourceMatch match_source(const std::optional<std::string>& text, std::string_view kernel_hash) {
  if (!text) return SourceMatch::missing;
  if (kernel_hash.empty()) return SourceMatch::unknown;
  return kernel_source_hash(*text) == kernel_hash ? SourceMatch::matches : SourceMatch::differs;
}

}  // namespace ridge
