// Which names count as a slip of the finger and which do not.
#include "base/nearest.h"

#include <array>

#include <gtest/gtest.h>

namespace ridge {
namespace {

constexpr std::array<std::string_view, 7> kCommands = {"info", "check", "kernels", "ops", "gaps", "gpu", "graphs"};
using Names = std::vector<std::string>;

TEST(NearestNames, FindsOneSlip) {
  EXPECT_EQ(nearest_names("inof", kCommands), Names{"info"});  // two letters swapped
  EXPECT_EQ(nearest_names("kernel", kCommands), Names{"kernels"});
  EXPECT_EQ(nearest_names("chekc", kCommands), Names{"check"});
  EXPECT_EQ(nearest_names("kernells", kCommands), Names{"kernels"});
}

TEST(NearestNames, IgnoresCase) { EXPECT_EQ(nearest_names("INFO", kCommands), Names{"info"}); }

TEST(NearestNames, TakesABeginning) { EXPECT_EQ(nearest_names("ker", kCommands), Names{"kernels"}); }

TEST(NearestNames, NearestFirst) {
  EXPECT_EQ(nearest_names("grap", std::array<std::string_view, 3>{"gap", "graphs", "grap"}), (Names{"grap", "gap", "graphs"}));
}

TEST(NearestNames, AtMostThree) {
  EXPECT_EQ(nearest_names("aaaa", std::array<std::string_view, 4>{"aaab", "aaac", "aaad", "aaae"}),
            (Names{"aaab", "aaac", "aaad"}));
}

TEST(NearestNames, LeavesOutWhatCannotBeMeant) {
  EXPECT_TRUE(nearest_names("xyzzy", kCommands).empty());
  EXPECT_TRUE(nearest_names("", kCommands).empty());
  EXPECT_TRUE(nearest_names(std::string(100'000, 'i'), kCommands).empty());
}

TEST(DidYouMean, ReadsAsASentence) {
  EXPECT_EQ(did_you_mean("inof", kCommands), "did you mean info?");
  EXPECT_EQ(did_you_mean("aaaa", std::array<std::string_view, 2>{"aaab", "aaac"}), "did you mean aaab or aaac?");
  EXPECT_EQ(did_you_mean("xyzzy", kCommands), "");
}

}  // namespace
}  // namespace ridge
