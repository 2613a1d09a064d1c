// Texts that are part of the binary, in pieces: the script that records times (the files of record_expected, one behind the
// other), and the table that was made of an H200's (expected_h200.txt, by tools/make_expected_table). Made by
// cmake/EmbedText.cmake.
#pragma once

#include <span>
#include <string_view>

namespace ridge {

std::span<const std::string_view> calibration_script();
std::span<const std::string_view> expected_table_text();

}  // namespace ridge
