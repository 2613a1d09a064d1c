// Names of devices as sets of words, so that "NVIDIA A100 80GB PCIe", "A100-PCIE-80GB" and "a100 pcie 80gb" are one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridge {

// Lower case, cut at everything that is no letter or digit, without vendors and product lines ("nvidia", "tesla", "instinct",
// "(R)", "gpu"). The number of a socket is dropped: "sxm4" is "sxm".
std::vector<std::string> device_words(std::string_view name);

// Whether each word of `wanted` (separated by spaces) is among `words`.
bool holds_all(const std::vector<std::string>& words, std::string_view wanted);

}  // namespace ridge
