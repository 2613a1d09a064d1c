// --bench of serve and report: the answer of `ridge bench`, saved as JSON, for the pages of its kernels.
#pragma once

#include <memory>

#include <ridge/analysis.h>
#include <ridge/report.h>
#include <ridge/result.h>

namespace ridge::cli {

inline constexpr Parameter kBenchParameter = {"bench", Type::text,
                                              "what ridge bench measured (its JSON): shown on the pages of kernels", true};

// Null where none is given.
Result<std::shared_ptr<const Report>> read_bench(const Arguments& arguments);

}  // namespace ridge::cli
