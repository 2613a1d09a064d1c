// Text that is kept packed: what goes in comes out, in any pieces, and long text takes little room.
#include "server/packed_text.h"

#include <random>

#include <gtest/gtest.h>

namespace ridge::server {
namespace {

std::string rows(std::size_t bytes) {
  std::minstd_rand random;
  std::string text;
  while (text.size() < bytes)
    text += "[\"void at::native::elementwise_kernel<128, 4>\"," + std::to_string(random() % 100'000) + "],\n";
  text.resize(bytes);
  return text;
}

TEST(PackedText, GivesBackWhatWentIn) {
  for (const std::size_t bytes : {0U, 1U, 1023U, 1024U, 1025U, 65'536U, 65'537U, 3'000'000U}) {
    const std::string text = rows(bytes);
    for (const std::size_t piece : {7U, 1000U, 70'000U, 4'000'000U}) {
      if (piece == 7 && bytes > 100'000) continue;
      TextPacker packer;
      for (std::size_t at = 0; at < text.size(); at += piece) packer.add(std::string_view(text).substr(at, piece));
      const PackedText packed = packer.finish();
      EXPECT_EQ(packed.text_size(), bytes);
      EXPECT_EQ(packed.is_gzip(), bytes >= 1024);
      EXPECT_TRUE(packed.text() == text) << bytes << " bytes in pieces of " << piece;
    }
  }
}

TEST(PackedText, IsReadInPiecesOfTheSizeAskedFor) {
  const std::string text = rows(200'000);
  for (const PackedText& packed : {PackedText(text), PackedText(text.substr(0, 900))}) {
    TextUnpacker unpacker(packed);
    std::string all;
    for (std::string_view piece; !(piece = unpacker.next(700)).empty(); all += piece) EXPECT_LE(piece.size(), 700U);
    EXPECT_TRUE(all == text.substr(0, packed.text_size()));
  }
}

TEST(PackedText, TakesLittleRoom) {
  const PackedText packed(rows(5'000'000));
  EXPECT_LT(packed.bytes().capacity(), 1'000'000U);
}

TEST(PackedText, NoiseIsKeptWhole) {
  std::minstd_rand random;
  std::string text(1'000'000, ' ');
  for (char& c : text) c = static_cast<char>(random() >> 8);
  EXPECT_TRUE(PackedText(text).text() == text);
}

}  // namespace
}  // namespace ridge::server
