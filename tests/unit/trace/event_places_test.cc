// EventPlaces gives back what it was given, also where that does not fit its eight bytes.
#include "trace/event_places.h"

#include <gtest/gtest.h>

namespace ridge::test {
namespace {

TEST(EventPlaces, GivesBackWhatItTook) {
  constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;
  std::vector<EventPlace> all;
  std::uint64_t at = 20;
  for (std::uint32_t i = 0; i < 200'000; ++i) {  // over several blocks
    all.push_back({at, i % 1000});
    at += i % 1000 + 2;
  }
  for (const std::uint32_t size : {(1U << 24) - 2, (1U << 24) - 1, 1U << 24, UINT32_MAX}) all.push_back({at, size});
  for (const std::uint64_t begin : {kTerabyte - 1, kTerabyte, kTerabyte * 1000, UINT64_MAX - 5}) all.push_back({begin, 5});
  EventPlaces places;
  EXPECT_TRUE(places.empty());
  const std::span<const EventPlace> given(all);
  places.append(given.first(65'536));
  places.append({});
  places.append(given.subspan(65'536, 1));
  places.append(given.subspan(65'537));
  ASSERT_EQ(places.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(places[i].begin, all[i].begin) << i;
    ASSERT_EQ(places[i].size, all[i].size) << i;
  }
  EXPECT_LT(places.bytes(), all.size() * 12) << "a place takes eight bytes, but for the rest of the last block";
}

}  // namespace
}  // namespace ridge::test
