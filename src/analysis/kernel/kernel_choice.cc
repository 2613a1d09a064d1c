// Exact, then substring, then regular expression; an ambiguous NAME lists what it could mean.
#include "analysis/kernel/kernel_choice.h"

#include <algorithm>
#include <functional>

#include <re2/re2.h>

#include "base/nearest.h"

namespace ridge {
namespace {

constexpr std::size_t kMostListed = 8;
constexpr std::size_t kMostOfListedName = 200;                         // names of templates have thousands of characters
constexpr std::size_t kHeadOfListedName = 40, kSeenOfDifference = 20;  // of those that differ farther behind

using Fits = std::function<bool(std::string_view)>;

// Distinct names of kernels, in the candidates' order.
std::vector<KernelCandidate> those_that(const std::vector<KernelCandidate>& candidates, const Fits& fits) {
  std::vector<KernelCandidate> found;
  for (const KernelCandidate& c : candidates) {
    if (!fits(c.kernel) && !fits(c.label)) continue;
    const auto same = std::ranges::find(found, c.kernel, &KernelCandidate::kernel);
    if (same == found.end()) found.push_back(c);
  }
  return found;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return out;
}

// As many characters as both begin with.
std::size_t alike(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// The beginning of a long name; where another one begins so too, its head and the part from which on they differ: tiles and
// layouts stand far behind in the names of Tensile and CUTLASS.
std::string shortened(std::string_view name, const std::vector<std::string_view>& names) {
  if (name.size() <= kMostOfListedName) return std::string(name);
  std::size_t same = 0;
  for (const std::string_view other : names) {
    if (other != name) same = std::max(same, alike(name, other));
  }
  if (same + kSeenOfDifference <= kMostOfListedName) return std::string(name.substr(0, kMostOfListedName)) + "...";
  const std::size_t rest = kMostOfListedName - kHeadOfListedName;
  const std::size_t at = std::min(same - std::min(same, kSeenOfDifference), name.size() - rest);
  return std::string(name.substr(0, kHeadOfListedName)) + "..." + std::string(name.substr(at, rest)) +
         (at + rest < name.size() ? "..." : "");
}

// Each on a line of its own; the label where it tells the kernels apart, because it is what a person can type.
std::string listed(const std::vector<KernelCandidate>& found) {
  std::vector<std::string_view> names;
  for (const KernelCandidate& each : found) {
    const bool unique = std::ranges::count(found, each.label, &KernelCandidate::label) == 1;
    names.push_back(unique ? each.label : each.kernel);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kMostListed); ++i) text += "\n" + shortened(names[i], names);
  if (found.size() > kMostListed) text += "\nand " + std::to_string(found.size() - kMostListed) + " more";
  return text;
}

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_large(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_small(c) || is_large(c) || (c >= '0' && c <= '9'); }

// The kernels one of whose words is nearly the name: "sofmax" for "softmax_warp_forward", "winogrd" for "winogradWgradData4x4".
std::string by_words(std::string_view name, const std::vector<std::string_view>& labels) {
  std::vector<std::string_view> words, whole;
  for (const std::string_view label : labels) {
    for (std::size_t at = 0, end = 0; at < label.size(); at = std::max(end, at + 1)) {
      end = at;
      while (end < label.size() && is_letter(label[end]) && (end == at || !is_large(label[end]) || !is_small(label[end - 1])))
        ++end;
      if (end == at) continue;
      words.push_back(label.substr(at, end - at));
      whole.push_back(label);
    }
  }
  std::string text;
  for (const std::string& near : nearest_names(name, words)) {
    const auto word = std::ranges::find(words, near);
    const std::string label(whole[static_cast<std::size_t>(word - words.begin())]);
    if (text.find(label) == text.npos) text += (text.empty() ? "did you mean " : " or ") + label;
  }
  return text.empty() ? text : text + "?";
}

}  // namespace

Result<std::string_view> choose_kernel(const std::vector<KernelCandidate>& candidates, const std::string& name) {
  const std::string small = lower(name);
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 pattern(name, options);
  const Fits ways[] = {
      [&](std::string_view text) { return text == name; },
      [&](std::string_view text) { return text.find(name) != std::string_view::npos; },
      [&](std::string_view text) { return lower(text).find(small) != std::string::npos; },
      [&](std::string_view text) {
        return pattern.ok() && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
      },
  };
  for (const Fits& way : ways) {
    const std::vector<KernelCandidate> found = name.empty() ? std::vector<KernelCandidate>() : those_that(candidates, way);
    if (found.size() == 1) return found.front().kernel;
    if (found.empty()) continue;
    return fail(ErrorCode::usage, std::to_string(found.size()) + " kernels match '" + name + "'", "",
                "choose one, by any part of its name:" + listed(found));
  }
  std::vector<std::string_view> labels;
  for (const KernelCandidate& c : candidates) labels.push_back(c.label);
  std::string hint = did_you_mean(name, labels);
  if (hint.empty()) hint = by_words(name, labels);
  if (hint.empty()) hint = "ridge kernels lists them";
  return fail(ErrorCode::usage, "there is no kernel '" + name + "' in the trace", "", std::move(hint));
}

}  // namespace ridge
