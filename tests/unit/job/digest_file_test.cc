// Digests as bytes: what is written is read again; what is damaged or hostile is an error and never more memory than its size.
#include "job/digest_file.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "ingest/reader.h"
#include "job/make_digest.h"
#include "job/sound_digest.h"
#include "support/files.h"
#include "support/made_job.h"
#include "support/says.h"

namespace ridge {
namespace {

Digest made_digest() {
  test::MadeJob job{.ranks = std::vector<test::MadeRank>(2)};
  job.ranks[0].host = "node1";
  const auto trace = read_trace_bytes(test::made_traces(job)[0], "rank0.json", {});
  return make_digest(Model(**trace));
}

std::string bytes_of(const Digest& digest) {
  std::string bytes;
  append_digest(digest, &bytes);
  return bytes;
}

// A record around any content, with the right length and hash.
std::string record_of(const std::string& content) {
  const auto word = [](std::uint64_t value) {
    std::string out;
    for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
  };
  return std::string(kDigestMagic) + word(content.size()) + content + word(hash_text(content));
}

TEST(DigestFile, WhatIsWrittenIsRead) {
  const Digest digest = made_digest();
  EXPECT_EQ(digest.collectives.size(), 5U);
  EXPECT_EQ(digest.steps.size(), 5U);
  EXPECT_GT(digest.items.size(), 10U);
  const auto read = read_digests(bytes_of(digest), "a");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1U);
  EXPECT_TRUE(read->front() == digest);
}

TEST(DigestFile, EveryTraceSurvives) {
  for (const std::string& path : test::own_traces()) {
    const auto trace = read_trace(path, {});
    if (!trace) continue;
    const Digest digest = make_digest(Model(**trace));
    ASSERT_EQ(unsound_part(digest), "") << path;
    const auto read = read_digests(bytes_of(digest), path);
    ASSERT_TRUE(read) << path << ": " << read.error().message;
    EXPECT_TRUE(read->front() == digest) << path;
  }
}

TEST(DigestFile, FilesAreJoinedByPuttingThemTogether) {
  Digest second = made_digest();
  second.rank = 1;
  const auto read = read_digests(bytes_of(made_digest()) + bytes_of(second), "a");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[1].rank, 1);
}

TEST(DigestFile, EveryCutIsAnError) {
  const std::string bytes = bytes_of(made_digest());
  for (std::size_t size = 1; size < bytes.size(); size += 7) {
    const auto read = read_digests(bytes.substr(0, size), "cut");
    ASSERT_FALSE(read) << size;
    EXPECT_TRUE(test::says(read.error().message, {"damaged"}));
  }
  EXPECT_FALSE(read_digests(bytes + "x", "more"));
}

TEST(DigestFile, EveryFlippedBitIsAnError) {
  const std::string bytes = bytes_of(made_digest());
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    EXPECT_FALSE(read_digests(flipped, "flipped")) << i;
  }
}

// With a hash that fits, any content is read without harm: as a digest that is sound, or as an error.
TEST(DigestFile, HostileContentIsHeld) {
  const std::string good = bytes_of(made_digest());
  const std::string content = good.substr(16, good.size() - 24);
  std::uint64_t state = 88172645463325252ULL;
  const auto random = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  };
  ASSERT_TRUE(read_digests(record_of(content), "as it was"));
  int errors = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string changed = content;
    for (int n = 0; n < 1 + round % 3; ++n) changed[random() % changed.size()] = static_cast<char>(random());
    if (round % 5 == 0) changed.resize(random() % changed.size());
    const auto read = read_digests(record_of(changed), "hostile");
    if (!read) {
      ++errors;
    } else {
      EXPECT_EQ(unsound_part(read->front()), "");
    }
  }
  EXPECT_GT(errors, 1000);
  EXPECT_LT(errors, 4000);  // what is held is not only refused
  EXPECT_FALSE(read_digests(record_of(std::string(64, '\xff')), "hostile"));
  EXPECT_FALSE(read_digests(record_of(""), "hostile"));
}

// Where the format changes, the inputs that fuzzing starts from change with it.
TEST(DigestFile, InputsOfTheFuzzerAreOfThisVersion) {
  for (const char* name : {"gloo_rank0", "gloo_rank1", "no_collectives"}) {
    const auto read = read_digests(record_of(test::contents(test::source_dir() + "/fuzz/corpus/digest/" + name)), name);
    EXPECT_TRUE(read) << read.error().message;
  }
}

// One event that lies years behind the others, as a damaged number puts it.
TEST(DigestFile, AWindowOfYearsIsNotCutIntoSeconds) {
  std::string text = test::made_traces({.ranks = std::vector<test::MadeRank>(2)})[0];
  const std::string_view events = "\"traceEvents\":";
  const std::size_t at = text.find('[', text.find(events)) + 1;
  text.insert(
      at,
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":400000000000000,"dur":5,"args":{"correlation":99999999}},
    {"ph":"X","cat":"kernel","name":"late","pid":0,"tid":7,"ts":400000000000010,"dur":5,"args":{"device":0,"stream":7,"correlation":99999999}},)");
  const auto trace = read_trace_bytes(text, "rank0.json", {});
  const Digest digest = make_digest(Model(**trace));
  EXPECT_LT(digest.items.size(), 10'000U);
  EXPECT_EQ(unsound_part(digest), "a window of months");
}

TEST(DigestFile, WhatPointsOutsideIsUnsound) {
  const Digest good = made_digest();
  EXPECT_EQ(unsound_part(good), "");
  Digest bad = good;
  bad.collectives[0].group = 99;
  EXPECT_NE(unsound_part(bad), "");
  bad = good;
  bad.collectives[0].end_ns = bad.collectives[0].start_ns - 1;
  EXPECT_NE(unsound_part(bad), "");
  bad = good;
  bad.steps[0].end_ns = INT64_MAX;
  EXPECT_NE(unsound_part(bad), "");
  bad = good;
  bad.items.front().target = 1000;
  EXPECT_NE(unsound_part(bad), "");
  bad = good;
  bad.rank = -4;
  EXPECT_NE(unsound_part(bad), "");
  EXPECT_FALSE(read_digests(bytes_of(bad), "bad"));
}

}  // namespace
}  // namespace ridge
