// --table: rows are found by what is told of a launch or a call, and tables that cannot be are refused.
#include "predict/kernel_table.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "analysis/kernels/kernels.h"
#include "analysis/predict/predict.h"
#include "analysis/whatif/whatif.h"
#include "ingest/reader.h"
#include "predict/expected_times.h"
#include "predict/op_lines.h"
#include "predict/table_source.h"
#include "support/files.h"

namespace ridge {
namespace {

constexpr const char* kMeasuredTable =
    R"({"ridge_table": 1, "device": "NVIDIA H200", "torch": "2.11.0", "clock_mhz": 1830, "kernels": [
  {"op": "aten::mm", "shapes": [[64, 32], [32, 16]], "strides": [[32, 1], [16, 1]], "dtypes": ["c10::BFloat16", "c10::BFloat16"],
   "args": null, "kernel": "gemm_nn", "grid": [4, 1, 1], "block": [128, 1, 1], "cold_ns": 4000, "warm_ns": 1000, "low_ns": 900, "high_ns": 4100},
  {"op": "aten::mm", "shapes": [[64, 32], [32, 16]], "strides": [[32, 1], [1, 32]], "dtypes": ["c10::BFloat16", "c10::BFloat16"],
   "kernel": "gemm_nt", "grid": [4, 1, 1], "block": [128, 1, 1], "cold_ns": 9000, "warm_ns": 9000},
  {"op": "aten::mm", "shapes": [[64, 32], [32, 16]], "strides": [[32, 1], [1, 32]], "dtypes": ["c10::BFloat16", "c10::BFloat16"],
   "kernel": "split_k_sum", "grid": [1, 1, 1], "block": [128, 1, 1], "cold_ns": 1000, "warm_ns": 1000},
  {"op": "aten::convolution", "shapes": [[8, 64, 56, 56], [64, 64, 3, 3]], "dtypes": ["float16", "float16"], "args": {"stride": [2, 2], "padding": [1, 1]},
   "kernel": "conv", "grid": null, "block": null, "cold_ns": null, "warm_ns": 5000},
  {"op": null, "kernel": "triton_poi_fused_add_0", "grid": [10, 1, 1], "block": [128, 1, 1], "cold_ns": 3000, "warm_ns": 3000},
  {"op": null, "kernel": "triton_poi_fused_add_0", "grid": [20, 1, 1], "block": [128, 1, 1], "cold_ns": 6000, "warm_ns": 6000}]})";

KernelTable table_in(std::string_view text) {
  auto read = KernelTable::read(text, "table.json");
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
  return read ? std::move(*read) : KernelTable();
}

// What the engine hands over with --table.
class Given : public KernelSources, public TableSource {
 public:
  explicit Given(std::string_view json) : table_(table_in(json)) {}
  std::optional<std::string> find(std::string_view) const override { return std::nullopt; }
  const KernelTable* kernel_table() const override { return &table_; }

 private:
  KernelTable table_;
};

// The line must outlive the call that points to it.
OpLine line_of(std::string_view json) { return std::move(read_op_lines(json, "x")->front()); }

TEST(KernelTable, ALaunchIsFoundByAllThatIsToldOfIt) {
  const KernelTable table = table_in(kMeasuredTable);
  EXPECT_EQ(table.device(), "NVIDIA H200");
  const OpLine by_rows = line_of(
      R"({"op": "aten::mm", "shapes": [[64, 32], [32, 16]], "strides": [[32, 1], [16, 1]], "dtypes": ["c10::BFloat16", "c10::BFloat16"]})");
  const auto found = table.launch("gemm_nn", Dim3{4, 1, 1}, Dim3{128, 1, 1}, &by_rows.call);
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->ns, 2000) << "between warm and cold, as the geometric mean";
  EXPECT_DOUBLE_EQ(found->low_ns, 900);
  EXPECT_DOUBLE_EQ(found->high_ns, 4100);
  EXPECT_NE(found->basis.find("measured alone on NVIDIA H200, PyTorch 2.11.0"), std::string::npos) << found->basis;
  EXPECT_FALSE(table.launch("gemm_nn", Dim3{5, 1, 1}, Dim3{128, 1, 1}, &by_rows.call)) << "another grid";
  EXPECT_FALSE(table.launch("gemm_nt", Dim3{4, 1, 1}, Dim3{128, 1, 1}, &by_rows.call)) << "other strides";
  EXPECT_FALSE(table.launch("another", Dim3{4, 1, 1}, Dim3{128, 1, 1}, &by_rows.call));
  const OpLine other = line_of(R"({"op": "aten::mm", "shapes": [[64, 32], [32, 16]], "dtypes": "float16"})");
  EXPECT_FALSE(table.launch("gemm_nn", Dim3{4, 1, 1}, Dim3{128, 1, 1}, &other.call)) << "another type";
  EXPECT_TRUE(table.launch("gemm_nn", Dim3{4, 1, 1}, std::nullopt, nullptr)) << "a trace without shapes";
}

// As `ridge bench --save` writes it: tensors alone, those of lists without a type, and nothing of other arguments.
TEST(KernelTable, RowsOfBenchHaveTensorsAlone) {
  const KernelTable table =
      table_in(R"({"ridge_table": 1, "device": "NVIDIA H200", "torch": "2.11.0", "clock_mhz": null, "kernels": [
    {"op": "aten::convolution", "shapes": [[8, 64, 56, 56], [64, 1, 3, 3]], "strides": [[200704, 3136, 56, 1], null], "dtypes": ["c10::Half", "c10::Half"],
     "args": null, "kernel": "depthwise", "grid": [4, 1, 1], "block": [128, 1, 1], "cold_ns": 4000, "warm_ns": 4000, "low_ns": 3900, "high_ns": 4100},
    {"op": "aten::cat", "shapes": [[4, 8], [4, 8]], "strides": [null, null], "dtypes": [null, null], "args": null, "kernel": "cat", "grid": [1, 1, 1],
     "block": [512, 1, 1], "cold_ns": 2000, "warm_ns": 2000, "low_ns": 2000, "high_ns": 2000}]})");
  const OpLine conv = line_of(
      R"({"op": "aten::convolution", "shapes": [[8, 64, 56, 56], [64, 1, 3, 3]], "dtypes": ["c10::Half", "c10::Half"], "args": {"groups": 64, "padding": [1, 1]}})");
  EXPECT_TRUE(table.call(conv.call)) << "what the row does not tell is not asked for";
  EXPECT_TRUE(table.launch("depthwise", Dim3{4, 1, 1}, Dim3{128, 1, 1}, &conv.call));
  const OpLine cat = line_of(R"({"op": "aten::cat", "shapes": [[4, 8], [4, 8]], "dtypes": "float16", "args": {"dim": 0}})");
  EXPECT_TRUE(table.launch("cat", Dim3{1, 1, 1}, Dim3{512, 1, 1}, &cat.call));
}

TEST(KernelTable, GeneratedKernelsAreToldApartByTheirGrids) {
  const KernelTable table = table_in(kMeasuredTable);
  EXPECT_DOUBLE_EQ(table.launch("triton_poi_fused_add_0", Dim3{20, 1, 1}, Dim3{128, 1, 1}, nullptr)->ns, 6000);
  EXPECT_FALSE(table.launch("triton_poi_fused_add_0", std::nullopt, std::nullopt, nullptr))
      << "which of the two is not told, and they are far apart";
}

TEST(KernelTable, ACallIsTheSumOfItsKernels) {
  const KernelTable table = table_in(kMeasuredTable);
  const OpLine turned = line_of(
      R"({"op": "aten::mm", "shapes": [[64, 32], [32, 16]], "strides": [[32, 1], [1, 32]], "dtypes": ["bfloat16", "bfloat16"]})");
  EXPECT_DOUBLE_EQ(table.call(turned.call)->ns, 10000);
  const OpLine conv = line_of(
      R"({"op": "aten::convolution", "shapes": [[8, 64, 56, 56], [64, 64, 3, 3]], "dtypes": "float16", "args": {"stride": [2], "padding": [1]}})");
  EXPECT_DOUBLE_EQ(table.call(conv.call)->ns, 5000) << "[2] stands for [2, 2]; warm alone was measured";
  const OpLine plain = line_of(
      R"({"op": "aten::convolution", "shapes": [[8, 64, 56, 56], [64, 64, 3, 3]], "dtypes": "float16", "args": {"padding": [1]}})");
  EXPECT_FALSE(table.call(plain.call)) << "another stride";
}

TEST(KernelTable, ComesBeforeTheModelInATrace) {
  const std::unique_ptr<Trace> trace = read_trace_bytes(test::fixture("opzoo_eager"), "t", {}).value();
  const Model model(*trace);
  const CostModel plain(model, {});
  const ExpectedTimes expected(plain);
  // Of the first launch of a product the table says that it takes one microsecond.
  std::size_t row = 0;
  while (expected.call(row) == nullptr || expected.call(row)->call == nullptr || expected.call(row)->call->launches != 1) ++row;
  const EventId event = trace->of(EventClass::device_work)[row];
  const std::string json = R"({"ridge_table": 1, "device": "h200", "kernels": [{"kernel": ")" +
                           std::string(trace->text(trace->events.name(event))) + R"(", "warm_ns": 1000, "cold_ns": 1000}]})";
  CostOptions options;
  const Given given(json);
  options.sources = &given;
  const CostModel costs(model, options);
  const ExpectedTimes measured(costs);
  EXPECT_TRUE(measured.is_measured(row));
  EXPECT_DOUBLE_EQ(measured.ns(row).value_or(0), 1000);
  EXPECT_DOUBLE_EQ(measured.call(row)->expected->ns, 1000);
  EXPECT_EQ(measured.call(row)->expected->basis, "measured alone on NVIDIA H200");
  EXPECT_FALSE(expected.is_measured(row));
  std::size_t others = 0;
  for (std::size_t i = 0; i < costs.costs().of_row.size(); ++i) {
    if (!measured.is_measured(i) && expected.ns(i)) {
      EXPECT_EQ(measured.ns(i), expected.ns(i));
      ++others;
    }
  }
  EXPECT_GT(others, 0U);
  // What was measured on another device says nothing here.
  const Given elsewhere_given(std::string(json).replace(json.find("h200"), 4, "Mine"));
  options.sources = &elsewhere_given;
  const CostModel elsewhere(model, options);
  EXPECT_EQ(ExpectedTimes(elsewhere).ns(row), expected.ns(row));
}

// What a table served is said by all that take one: nothing fits, another device, or how many rows.
TEST(KernelTable, WhatItServedIsSaid) {
  const std::unique_ptr<Trace> trace = read_trace_bytes(test::fixture("opzoo_eager"), "t", {}).value();
  const Model model(*trace);
  const auto said = [&](const std::string& device, const std::string& kernel) {
    const std::string json = R"({"ridge_table": 1, "device": ")" + device + R"(", "kernels": [{"kernel": ")" + kernel +
                             R"(", "warm_ns": 1000, "cold_ns": 1000}, {"kernel": "absent", "warm_ns": 1000}]})";
    const Given given(json);
    CostOptions options;
    options.sources = &given;
    const Scope scope(model, std::make_shared<const CostModel>(model, options));
    const Kernels kernels = compute_kernels(scope);
    const auto found =
        std::ranges::find_if(kernels.diagnostics, [](const Diagnostic& d) { return d.code.starts_with("table_"); });
    EXPECT_NE(found, kernels.diagnostics.end());
    if (found == kernels.diagnostics.end()) return std::string();
    EXPECT_EQ(compute_predictions(scope)->table_use->message, found->message);
    EXPECT_EQ(compute_whatif(scope, {}).table_use->message, found->message);
    return found->code + ": " + found->message;
  };
  const CostModel plain(model, {});
  const ExpectedTimes expected(plain);
  std::size_t row = 0;
  while (expected.call(row) == nullptr || expected.call(row)->call == nullptr || expected.call(row)->call->launches != 1) ++row;
  const std::string name(trace->text(trace->events.name(trace->of(EventClass::device_work)[row])));
  EXPECT_NE(said("h200", name).find("table_taken: 1 of 2 rows of --table stand for "), std::string::npos) << said("h200", name);
  EXPECT_EQ(said("h200", "other"),
            "table_not_taken: no row of --table is taken: none of its 2 tells the time of a launch of this trace");
  EXPECT_EQ(said("Mine", name), "table_not_taken: no row of --table is taken: it was measured on Mine, this is NVIDIA H200");
  EXPECT_FALSE(compute_predictions(Scope(model))->table_use.has_value());

  const auto lines = [](const std::string& device) {
    const Given given(kMeasuredTable);
    CostOptions options;
    options.sources = &given;
    if (!device.empty()) options.device = **find_device(device);
    return compute_predictions(
               options,
               R"({"op": "aten::mm", "shapes": [[64, 32], [32, 16]], "strides": [[32, 1], [1, 32]], "dtypes": "bfloat16"}
{"op": "aten::mm", "shapes": [[65, 32], [32, 16]], "dtypes": "bfloat16"})")
        ->table_use->message;
  };
  EXPECT_EQ(lines(""), "2 of 6 rows of --table stand for 1 of 2 lines; the rest is by the model");
  EXPECT_NE(lines("A100-SXM4-80GB").find("measured on NVIDIA H200, this is NVIDIA A100"), std::string::npos)
      << lines("A100-SXM4-80GB");
}

TEST(KernelTable, TablesThatCannotBeAreRefused) {
  struct Case {
    std::string_view text, says;
  };
  for (
      const Case& c : {
          Case{"", "not JSON"},
          Case{"[]", "not a JSON object"},
          Case{"{}", "ridge_table"},
          Case{R"({"ridge_table": "1", "device": "H200", "kernels": []})", "ridge_table"},
          Case{R"({"ridge_table": 2, "device": "H200", "kernels": []})", "version 2"},
          Case{R"({"ridge_table": 1, "kernels": []})", "no device"},
          Case{R"({"ridge_table": 1, "device": "H200"})", "no list 'kernels'"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": []})", "no measured kernel"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [5]})", "not a JSON object"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"warm_ns": 5}]})", "neither an op nor a kernel"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k"}]})", "neither 'warm_ns'"},
          Case{
              R"({"ridge_table": 1, "device": "H200", "kernels": [{"op": "mm", "warm_ns": 5, "shapes": [[9, -9]], "dtypes": ["float"]}]})",
              "negative"},
          Case{
              R"({"ridge_table": 1, "device": "H200", "kernels": [{"op": "mm", "warm_ns": 5, "shapes": [[9, 9]], "dtypes": ["float", "float"]}]})",
              "as many dtypes"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k", "warm_ns": 0}]})", "no time"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k", "warm_ns": -5}]})", "no time"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k", "warm_ns": 1e300}]})", "no time"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k", "warm_ns": "fast"}]})", "no time"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k", "warm_ns": 5, "low_ns": 9, "high_ns": 8}]})",
               "above"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k", "warm_ns": 5, "grid": [1]}]})", "[x, y, z]"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k", "warm_ns": 5, "block": [-1, 1, 1]}]})",
               "[x, y, z]"},
          Case{R"({"ridge_table": 1, "device": "H200", "kernels": [{"op": "mm", "warm_ns": 5, "shapes": "x"}]})", "'shapes'"},
          Case{
              R"({"ridge_table": 1, "device": "H200", "kernels": [{"op": "mm", "warm_ns": 5, "args": {}, "shapes": [[9, 9], [8, 8]], "dtypes": "float16"}]})",
              "inner"},
      }) {
    const auto read = KernelTable::read(c.text, "table.json");
    ASSERT_FALSE(read.has_value()) << c.text;
    EXPECT_NE(read.error().message.find(c.says), std::string::npos) << read.error().message << " of " << c.text;
    EXPECT_EQ(read.error().where.rfind("table.json", 0), 0U);
  }
  const auto second = KernelTable::read(
      R"({"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k", "warm_ns": 5}, {"kernel": "l", "warm_ns": null}]})",
      "t");
  EXPECT_EQ(second.error().where, "t, kernel 2");
}

// A table that was damaged is read or refused; what it tells then is still a time.
TEST(KernelTable, DamagedTablesAreReadOrRefused) {
  std::minstd_rand random(1);
  const std::string whole = kMeasuredTable;
  const OpLine call = line_of(R"({"op": "aten::mm", "shapes": [[64, 32], [32, 16]], "dtypes": "bfloat16"})");
  std::size_t refused = 0, taken = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (std::size_t n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random() % 256); break;
        case 1: text.erase(at, 1 + random() % 40); break;
        case 2: text.insert(at, text.substr(random() % text.size(), random() % 40)); break;
        default: text[at] = "0123456789-eE.[]{}\",:"[random() % 21]; break;
      }
      if (text.empty()) text = " ";
    }
    const auto read = KernelTable::read(text, "t");
    if (!read) {
      ++refused;
      EXPECT_FALSE(read.error().message.empty());
      continue;
    }
    ++taken;
    for (const auto& time : {read->launch("gemm_nn", Dim3{4, 1, 1}, Dim3{128, 1, 1}, &call.call), read->call(call.call)}) {
      if (!time) continue;
      EXPECT_TRUE(std::isfinite(time->ns) && time->ns > 0 && time->low_ns <= time->ns && time->ns <= time->high_ns) << text;
    }
  }
  EXPECT_GT(refused, 100U);
  EXPECT_GT(taken, 100U);
}

}  // namespace
}  // namespace ridge
