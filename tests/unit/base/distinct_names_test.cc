// Traces of ranks often share a file name: what tells them apart is a folder.
#include "base/distinct_names.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

using Names = std::vector<std::string>;

TEST(DistinctNames, KeepFoldersOnlyWhereTheyTell) {
  EXPECT_EQ(distinct_names({"/data/a.json", "/data/b.json"}), (Names{"a.json", "b.json"}));
  EXPECT_EQ(distinct_names({"/run/r0/t.json", "/run/r1/t.json", "x.json"}), (Names{"r0/t.json", "r1/t.json", "x.json"}));
  EXPECT_EQ(distinct_names({"/a/r0/p/t.json", "/a/r1/p/t.json"}), (Names{"r0/p/t.json", "r1/p/t.json"}));
  EXPECT_EQ(distinct_names({"t.json", "/r/t.json"}), (Names{"t.json", "r/t.json"}));
  EXPECT_EQ(distinct_names({"/t.json", "/t.json", "-"}), (Names{"t.json", "t.json (2)", "-"}));
  EXPECT_EQ(distinct_names({}), Names{});
}

}  // namespace
}  // namespace ridge
