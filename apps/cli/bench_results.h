// --bench of serve and report: the answer of `ridge bench`, saved as JSON, for the pages of its kernels.
#pragma once

#include <memory>

#include <ridge/analysis.h>
#include <ridge/engine.h>
#include <ridge/report.h>
#include <ridge/result.h>

namespace ridge::cli {

inline constexpr Parameter kBenchParameter = {"bench", Type::text,
                                              "what ridge bench measured (its JSON): shown on the pages of kernels", true};

// Null where none is given. Its diagnostics say, and so does standard error unless `quiet`, what of it is not of these traces:
// kernels that none of them has, another device.
Result<std::shared_ptr<const Report>> read_bench(const Engine& engine, const Arguments& arguments, bool quiet);

}  // namespace ridge::cli
