// gzip and zstd: several members, padding, garbage behind, corruption, bombs. Cuts are in cut_test.cc.
#include <random>

#include <gtest/gtest.h>

#include "ingest/source.h"
#include "support/files.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

std::string small_trace(int events) {
  std::string text = plain_event("e0", 0);
  for (int i = 1; i < events; ++i) text += ",\n" + plain_event("e" + std::to_string(i), i);
  return trace_of(text);
}

struct Packer {
  const char* name;
  std::string (*pack)(std::string_view bytes);
  std::string_view container;
};

constexpr Packer kPackers[] = {{"Gzip", gzip, "gzip"}, {"Zstd", zstd, "zstd"}};

class Packed : public testing::TestWithParam<Packer> {};
INSTANTIATE_TEST_SUITE_P(Containers, Packed, testing::ValuesIn(kPackers),
                         [](const auto& p) { return std::string(p.param.name); });

TEST_P(Packed, ReadsAsThePlainText) {
  const std::string json = small_trace(2000);
  const std::string packed = GetParam().pack(json);
  const Lines expected = event_lines(*read_ok(json));
  for (const Way& way : large_file_ways()) {
    const auto trace = read_ok(packed, way);
    EXPECT_EQ(event_lines(*trace), expected) << name_of(way);
    EXPECT_EQ(trace->container, GetParam().container);
    EXPECT_EQ(trace->json_bytes, json.size());
    EXPECT_EQ(trace->file_bytes, packed.size());
    EXPECT_EQ(problem_lines(trace->diagnostics), Lines{});
  }
}

TEST_P(Packed, SeveralMembersCutAnywhere) {
  const std::string json = small_trace(20);
  const Lines expected = event_lines(*read_ok(json));
  for (std::size_t cut = 0; cut <= json.size(); cut += 37) {
    const std::string packed = GetParam().pack(json.substr(0, cut)) + GetParam().pack("") + GetParam().pack(json.substr(cut));
    const auto trace = read_ok(packed);
    EXPECT_EQ(event_lines(*trace), expected) << cut;
    EXPECT_EQ(problem_lines(trace->diagnostics), Lines{}) << cut;
  }
}

TEST_P(Packed, ManyMembers) {
  const std::string json = small_trace(500);
  std::string packed;
  for (std::size_t i = 0; i < json.size(); i += 100) packed += GetParam().pack(json.substr(i, 100));
  EXPECT_EQ(event_lines(*read_ok(packed)), event_lines(*read_ok(json)));
}

TEST_P(Packed, GarbageBehind) {
  const std::string json = small_trace(20);
  const auto trace = read_ok(GetParam().pack(json) + "garbage");
  EXPECT_EQ(trace->events.size(), 20U);
  EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"trailing_garbage 1 " + std::to_string(json.size())});
}

TEST_P(Packed, SecondMemberCut) {
  const std::string json = small_trace(400);
  const std::string second = GetParam().pack(json.substr(10'000));
  const auto trace = read_ok(GetParam().pack(json.substr(0, 10'000)) + second.substr(0, 12));
  EXPECT_GT(trace->events.size(), 100U);
  EXPECT_LT(trace->events.size(), 400U);
  EXPECT_EQ(trace->diagnostics[Problem::truncated_compression].count, 1U);
}

TEST_P(Packed, CorruptBytesNeverCrashAndNeverMatter) {
  const std::string json = fixture("clean_tf32");
  const std::string packed = GetParam().pack(json);
  std::mt19937_64 random(5);
  for (int round = 0; round < 150; ++round) {
    std::string bytes = packed;
    for (int i = 0; i < 3; ++i) bytes[4 + random() % (bytes.size() - 4)] ^= static_cast<char>(1 << random() % 8);
    expect_all_ways_agree(bytes, {{1, 1 << 20, true}, {4, 4096, false}});
  }
}

// Everything that can be had, asked for in pieces of that size.
std::string inflated(std::string_view packed, std::size_t piece) {
  const OpenedSource opened = open_bytes(packed);
  std::string all, buffer(piece, '\0');
  for (std::size_t got = piece; got == piece;) {
    const auto read = opened.source->read(buffer.data(), piece);
    EXPECT_TRUE(read.has_value());
    got = read.value_or(0);
    all.append(buffer, 0, got);
  }
  return all;
}

TEST_P(Packed, DamageIsMetAtOnePlaceHoweverMuchIsAskedFor) {
  std::string packed = GetParam().pack(small_trace(2000));
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::string damaged = packed;
    for (int i = 0; i < 4; ++i) damaged[20 + random() % (damaged.size() - 20)] = static_cast<char>(random());
    const std::string whole = inflated(damaged, std::size_t{1} << 20);
    for (const std::size_t piece : {1U, 101U, 509U, 4096U, 70'000U})
      EXPECT_TRUE(inflated(damaged, piece) == whole) << round << " " << piece;
  }
}

TEST_P(Packed, Bomb) {
  const std::string packed =
      GetParam().pack(R"({"traceEvents": [)" + plain_event("a", 1) + std::string(std::size_t{50} << 20, ' ') + "]}");
  EXPECT_LT(packed.size(), std::size_t{1} << 20);
  ReadOptions options;
  options.max_bytes = std::size_t{10} << 20;
  const auto reading = read_trace_bytes(packed, "test", options);
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::too_large);
  EXPECT_NE(reading.error().message.find("10485760"), std::string::npos) << reading.error().message;
  EXPECT_NE(reading.error().hint.find("--max-bytes"), std::string::npos);
}

TEST_P(Packed, BombBeforeTheEvents) {
  const std::string packed = GetParam().pack("{" + std::string(std::size_t{50} << 20, ' '));
  ReadOptions options;
  options.max_bytes = std::size_t{10} << 20;
  const auto reading = read_trace_bytes(packed, "test", options);
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::too_large);
}

TEST(Gzip, PaddingOfZerosIsIgnored) {
  const std::string json = small_trace(20);
  const auto trace = read_ok(gzip(json) + std::string(10'000, '\0'));
  EXPECT_EQ(trace->events.size(), 20U);
  EXPECT_EQ(problem_lines(trace->diagnostics), Lines{});
}

TEST(Gzip, PaddingBetweenMembers) {
  const std::string json = small_trace(20);
  const auto trace = read_ok(gzip(json.substr(0, 400)) + std::string(512, '\0') + gzip(json.substr(400)));
  EXPECT_EQ(trace->events.size(), 20U);
}

TEST(Gzip, WrongChecksumKeepsTheEvents) {
  const std::string json = small_trace(20);
  std::string packed = gzip(json);
  packed[packed.size() - 6] ^= 1;  // inside the CRC of the trailer
  const auto trace = read_ok(packed);
  EXPECT_EQ(trace->events.size(), 20U);
  EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"checksum_mismatch 1 " + std::to_string(json.size())});
}

TEST(Gzip, EveryDamageIsTold) {
  const std::string json = small_trace(40);
  const auto wrong = [](std::string packed) {
    packed[packed.size() - 6] ^= 1;
    return packed;
  };
  const std::string end = std::to_string(json.size());
  // Wrong checksums of two members of three, and garbage behind.
  const auto three =
      read_ok(wrong(gzip(json.substr(0, 1000))) + gzip(json.substr(1000, 500)) + wrong(gzip(json.substr(1500))) + "garbage");
  EXPECT_EQ(three->events.size(), 40U);
  EXPECT_EQ(problem_lines(three->diagnostics), (Lines{"checksum_mismatch 2 1000 " + end, "trailing_garbage 1 " + end}));
  const std::string second = gzip(json.substr(1000));
  const auto cut = read_ok(wrong(gzip(json.substr(0, 1000))) + second.substr(0, second.size() - 4));
  EXPECT_EQ(cut->diagnostics[Problem::checksum_mismatch].count, 1U);
  EXPECT_EQ(cut->diagnostics[Problem::truncated_compression].count, 1U);
}

TEST(Zstd, AWrongChecksumCostsNoOtherFrame) {
  const std::string json = small_trace(40);
  for (const std::size_t at : {std::size_t{1000}, json.size()}) {
    std::string first = zstd(json.substr(0, at));
    first.back() = static_cast<char>(first.back() ^ 1);
    const std::string packed = first + (at < json.size() ? zstd(json.substr(at)) : "");
    expect_all_ways_agree(packed, small_file_ways());
    const auto trace = read_ok(packed);
    EXPECT_EQ(trace->events.size(), 40U);
    EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"checksum_mismatch 1 " + std::to_string(at)});
    for (const std::size_t piece : {1U, 101U, 4096U}) EXPECT_EQ(inflated(packed, piece), json) << piece;
  }
}

TEST(Gzip, TrailerCut) {
  const std::string json = small_trace(20);
  const std::string packed = gzip(json);
  for (std::size_t cut = 1; cut <= 8; ++cut) {
    const auto trace = read_ok(std::string_view(packed).substr(0, packed.size() - cut));
    EXPECT_EQ(trace->events.size(), 20U);
    EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"truncated_compression 1 " + std::to_string(json.size())}) << cut;
  }
}

TEST(Zstd, SkippableFrameFirst) {
  const std::string json = small_trace(20);
  const auto trace = read_ok(std::string("\x50\x2A\x4D\x18\x04\0\0\0abcd", 12) + zstd(json));
  EXPECT_EQ(trace->events.size(), 20U);
  EXPECT_EQ(trace->container, "zstd");
}

}  // namespace
}  // namespace ridge::test
