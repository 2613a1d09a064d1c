// categories: how device time divides over the sorts of work: Triton by kind, GEMM, convolution, attention, copies, ...
// Totals over all device events of the scope, copies and sets among them; what a category holds is said in
// model/kernel_identity.h. Regrouped (--by stage), each category of each group has its own rows, which add up to the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "analysis/kernels/kernels.h"
#include "facts/scope.h"

namespace ridge {

struct CategoryKernel {
  std::uint32_t group = 0;  // index into Categories::groups
  Category category = Category::other;
  std::string_view kernel;  // name of the device event; the trace owns it
  std::int64_t launches = 0;
  std::int64_t time_ns = 0;
};

struct CategoryShare {
  std::uint32_t group = 0;
  Category category = Category::other;
  std::int64_t kernels = 0;  // distinct names
  std::int64_t launches = 0;
  std::int64_t time_ns = 0;
};

struct Categories {
  std::optional<KernelsBy> by;
  std::vector<std::string> groups;        // by what they were regrouped, most time first; one without a name when not
  std::vector<CategoryShare> categories;  // those with launches, group by group, most time first within
  std::vector<CategoryKernel> kernels;    // in the order of their categories, most time first within
  std::int64_t time_ns = 0;               // of all device events of the scope that match its filter
  std::int64_t launches = 0;
  // What was left out of all that, if it was asked for: of the autotuner, and of the compiler else.
  std::int64_t autotune_launches = 0, autotune_ns = 0, compiler_launches = 0, compiler_ns = 0;
  std::int64_t window_ns = 0;  // of the window, times the number of devices
  bool no_device_events = false;
};

// `by`: one of the ways in which `kernels` regroups, but for launch.
Categories compute_categories(const Scope& scope, CompilerWorkFilter compilers = CompilerWorkFilter::with,
                              std::optional<KernelsBy> by = std::nullopt);
Report report_categories(const Categories& categories);

// What a user calls the ways to regroup them.
std::span<const std::string_view> categories_by_names();

}  // namespace ridge
