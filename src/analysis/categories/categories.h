// categories: how device time divides over the sorts of work: Triton by kind, GEMM, convolution, attention, copies, ...
// Totals over all device events of the scope, copies and sets among them; what a category holds is said in
// model/kernel_identity.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "analysis/kernels/kernels.h"
#include "facts/scope.h"

namespace ridge {

struct CategoryKernel {
  Category category = Category::other;
  std::string_view kernel;  // name of the device event; the trace owns it
  std::int64_t launches = 0;
  std::int64_t time_ns = 0;
};

struct CategoryShare {
  Category category = Category::other;
  std::int64_t kernels = 0;  // distinct names
  std::int64_t launches = 0;
  std::int64_t time_ns = 0;
};

struct Categories {
  std::vector<CategoryShare> categories;  // those with launches, most time first
  std::vector<CategoryKernel> kernels;    // in the order of their categories, most time first within
  std::int64_t time_ns = 0;               // of all device events of the scope that match its filter
  std::int64_t launches = 0;
  // What was left out of all that, if it was asked for: of the autotuner, and of the compiler else.
  std::int64_t autotune_launches = 0, autotune_ns = 0, compiler_launches = 0, compiler_ns = 0;
  std::int64_t window_ns = 0;  // of the window, times the number of devices
  bool no_device_events = false;
};

Categories compute_categories(const Scope& scope, CompilerWorkFilter compilers = CompilerWorkFilter::with);
Report report_categories(const Categories& categories);

}  // namespace ridge
