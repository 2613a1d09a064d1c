// SHA-256 of a text, for names that others made from it. Not for secrets: nothing here is constant in time.
#pragma once

#include <array>
#include <string_view>

namespace ridge {

using Sha256Digest = std::array<unsigned char, 32>;

Sha256Digest sha256(std::string_view text);

}  // namespace ridge
