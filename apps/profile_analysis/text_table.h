// A table as PyTorch's tabulate_2d lays it out: cells padded to the column, " | " between them, a line of dashes under the
// header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridge::profile_analysis {

using TextRow = std::vector<std::string>;

// Without a final new line.
std::string text_table(const TextRow& header, const std::vector<TextRow>& rows);

// The first `limit` characters, not bytes; a negative limit takes as many off the end.
std::string shortened(std::string_view name, long limit);

}  // namespace ridge::profile_analysis
