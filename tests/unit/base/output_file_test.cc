// OutputFile: the place holds the old file or the whole new one, and nothing else is left beside it.
#include "base/output_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "support/files.h"

namespace ridge::test {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ridge-output-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

void write_old(const std::string& path) { std::ofstream(path) << "old"; }

TEST_F(OutputFiles, TakesThePlaceOfTheOldOneWaitedForOrNot) {
  for (const auto wait : {OutputFile::Wait::for_the_disk, OutputFile::Wait::for_nothing}) {
    write_old(at("out"));
    ASSERT_EQ(::chmod(at("out").c_str(), 0640), 0);
    std::ifstream reader(at("out"));  // has the old one open: goes on with it
    auto file = OutputFile::create(at("out"));
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(file->write("new").has_value());
    EXPECT_EQ(contents(at("out")), "old");
    ASSERT_TRUE(file->finish(wait).has_value());
    EXPECT_EQ(contents(at("out")), "new");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old");
    EXPECT_EQ(fs::status(at("out")).permissions(), static_cast<fs::perms>(0640));
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(OutputFiles, IsNewWhereThereIsNone) {
  auto file = OutputFile::create(at("out"));
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->write("new").has_value());
  EXPECT_FALSE(fs::exists(at("out")));
  ASSERT_TRUE(file->finish(OutputFile::Wait::for_nothing).has_value());
  EXPECT_EQ(contents(at("out")), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFiles, UnfinishedLeavesTheOldOne) {
  write_old(at("out"));
  {
    auto file = OutputFile::create(at("out"));
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(file->write("new").has_value());
  }
  EXPECT_EQ(contents(at("out")), "old");
  EXPECT_EQ(files(), 1U);
}

// A swap would put the folder, with all that is in it, under the name of the unfinished file.
TEST_F(OutputFiles, AFolderThatCameInBetweenStays) {
  {
    auto file = OutputFile::create(at("out"));
    ASSERT_TRUE(file.has_value());
    fs::create_directory(at("out"));
    write_old(at("out/inside"));
    EXPECT_FALSE(file->finish(OutputFile::Wait::for_nothing).has_value());
  }
  EXPECT_EQ(contents(at("out/inside")), "old");
  EXPECT_EQ(files(), 1U);
}

// The file that a link names is replaced, not the link.
TEST_F(OutputFiles, ALinkStays) {
  write_old(at("real"));
  fs::create_symlink(at("real"), at("link"));
  auto file = OutputFile::create(at("link"));
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->write("new").has_value());
  ASSERT_TRUE(file->finish(OutputFile::Wait::for_nothing).has_value());
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(contents(at("real")), "new");
  EXPECT_EQ(files(), 2U);
}

}  // namespace
}  // namespace ridge::test
