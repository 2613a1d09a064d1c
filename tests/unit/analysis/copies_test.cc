// Copies of which some do not tell their bytes: rates are of the others, and the answer says so.
#include <string>

#include <gtest/gtest.h>

#include "analysis/copies/copies.h"
#include "support/loaded_trace.h"
#include "support/says.h"

namespace ridge {
namespace {

using test::event;
using test::join;
using test::load_events;

std::string copy(int at, int duration, std::string_view bytes) {
  const std::string args = "\"device\": 0, \"stream\": 7, \"correlation\": " + std::to_string(at);
  return event({.name = "Memcpy DtoD (Device -> Device)",
                .ts = at,
                .dur = duration,
                .cat = "gpu_memcpy",
                .args = bytes.empty() ? args : args + ", \"bytes\": " + std::string(bytes)});
}

// 4,000 bytes in 2 us are 2 GB/s; over all 10 us they would be 0.4.
TEST(Copies, SayThatBytesArePartlyKnown) {
  const auto loaded = load_events(join({copy(100, 2, "4000"), copy(200, 8, "")}));
  const Copies copies = compute_copies(Scope(*loaded.model));
  ASSERT_EQ(copies.rows.size(), 1U);
  EXPECT_EQ(copies.rows[0].count, 2);
  EXPECT_EQ(copies.rows[0].bytes, 4000);
  EXPECT_EQ(copies.rows[0].without_bytes, 1);
  const Report report = report_copies(copies);
  EXPECT_EQ(std::get<double>(report.tables[0].row(0)[6]), 2e9);
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics[0].code, "bytes_partly_known");
  EXPECT_EQ(report.diagnostics[0].count, 1);
  EXPECT_TRUE(test::says(report.diagnostics[0].message, {"1 of 2"}));
}

TEST(Copies, SayNothingWhereAllOrNoBytesAreKnown) {
  for (const char* bytes : {"4000", ""}) {
    const auto loaded = load_events(join({copy(100, 2, bytes), copy(200, 8, bytes)}));
    EXPECT_TRUE(report_copies(compute_copies(Scope(*loaded.model))).diagnostics.empty()) << bytes;
  }
}

}  // namespace
}  // namespace ridge
