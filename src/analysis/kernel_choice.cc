#include "analysis/kernel_choice.h"

#include <algorithm>
#include <functional>

#include <re2/re2.h>

#include "base/nearest.h"

namespace ridge {
namespace {

constexpr std::size_t kMostListed = 8;

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

// Each on a line of its own; the label where it tells the kernels apart, because it is what a person can type.
std::string listed(const std::vector<KernelCandidate>& found) {
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kMostListed); ++i) {
    const bool unique = std::ranges::count(found, found[i].label, &KernelCandidate::label) == 1;
    text += "\n" + std::string(unique ? found[i].label : found[i].kernel);
  }
  if (found.size() > kMostListed) text += "\nand " + std::to_string(found.size() - kMostListed) + " more";
  return text;
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
    return fail(ErrorCode::usage, std::to_string(found.size()) + " kernels fit '" + name + "'", "",
                "say which:" + listed(found));
  }
  std::vector<std::string_view> labels;
  for (const KernelCandidate& c : candidates) labels.push_back(c.label);
  std::string hint = did_you_mean(name, labels);
  if (hint.empty()) hint = "ridge kernels lists them";
  return fail(ErrorCode::usage, "there is no kernel '" + name + "' in the trace", "", std::move(hint));
}

}  // namespace ridge
