// Which deviceProperties row a device gets when their numbers differ.
#include "model/device_properties.h"

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

std::string row(int id, std::string_view name) {
  return R"({"id": )" + std::to_string(id) + R"(, "name": ")" + std::string(name) + "\"}";
}

std::string kernel(int device) {
  const std::string id = std::to_string(device);
  return R"({"ph":"X","cat":"kernel","name":"k","pid":)" + id + R"(,"tid":7,"ts":1,"dur":2,"args":{"device":)" + id + "}}";
}

// The name of the peaks that a device gets; empty when it gets none.
std::string peaks_of(std::int64_t device, const std::string& rows, const std::string& events) {
  const auto trace = read_ok(R"({"deviceProperties": [)" + rows + R"(], "traceEvents": [)" + events + "]}");
  const Model model(*trace);
  const CostModel costs(model, {});
  const DeviceSpec* spec = costs.device(device);
  return spec == nullptr ? "" : spec->name;
}

TEST(DeviceProperties, TheOnlyRowIsThatOfTheOnlyDevice) {
  const std::string only = row(0, "AMD Instinct MI300X");
  EXPECT_EQ(peaks_of(2, only, kernel(2)), "AMD Instinct MI300X");
  EXPECT_EQ(peaks_of(0, only, kernel(0)), "AMD Instinct MI300X");
  EXPECT_EQ(peaks_of(2, only, kernel(0) + ", " + kernel(2)), "");  // the row is that of the other
  EXPECT_EQ(peaks_of(2, only, kernel(1) + ", " + kernel(2)), "");  // it may be that of either
  EXPECT_EQ(peaks_of(2, only + ", " + row(1, "AMD Instinct MI250X"), kernel(2)), "");
  EXPECT_EQ(peaks_of(3, only, kernel(2)), "");  // of a device without work nothing is known
}

}  // namespace
}  // namespace ridge::test
