// Quoting, exact values, empty for unknown.
#include <cmath>

#include <gtest/gtest.h>

#include <ridge/render.h>

#include "sample_report.h"

namespace ridge {
namespace {

std::string csv(const Report& report, const View& view = {}) { return *report_text(report, **find_format("csv"), view); }

TEST(Csv, IsTheFirstTableExact) {
  Report report = sample_report();
  report.tables.push_back(sample_table());
  EXPECT_EQ(csv(report),
            "kernel,count,time_ns,mean_ns,fused\n"
            "gemm,2000,600000,300,true\n"
            "copy,3,300000,100000,false\n"
            "add,1,100000,,\n");
}

TEST(Csv, QuotesWhatNeedsIt) {
  Report report = sample_report();
  report.tables[0].columns.resize(1);
  set_rows(report.tables[0],
           {{text("a,b")}, {text("say \"hi\"")}, {text("two\nlines")}, {text("")}, {text(" x")}, {Cell()}, {text("=1+1")}});
  EXPECT_EQ(csv(report), "kernel\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n\"\"\n\" x\"\n\n=1+1\n");
}

TEST(Csv, CutTableHasNoOthersAndNoTotal) {
  EXPECT_EQ(csv(sample_report(), {.sort = "", .limit = 1}), "kernel,count,time_ns,mean_ns,fused\ngemm,2000,600000,300,true\n");
}

TEST(Csv, NotFiniteIsEmptyAndBadUtf8IsReplaced) {
  Report report = sample_report();
  set_rows(report.tables[0], {{text("a\xff"), integer(1), integer(2), Cell(std::nan("")), Cell(true)}});
  EXPECT_EQ(csv(report), "kernel,count,time_ns,mean_ns,fused\na\uFFFD,1,2,,true\n");
}

TEST(Csv, NoTableIsNoText) { EXPECT_EQ(csv({}), ""); }

}  // namespace
}  // namespace ridge
