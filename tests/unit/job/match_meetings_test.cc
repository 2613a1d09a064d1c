// Sends and receives find each other, however the rank at the other end is told.
#include <gtest/gtest.h>

#include "job/job.h"

namespace ridge {
namespace {

// Two pipelines of two stages, ranks 0 and 2, and 1 and 3: each first stage sends four times.
std::vector<Digest> two_pipelines(bool count_in_group) {
  std::vector<Digest> digests(4);
  for (std::int64_t r = 0; r < 4; ++r) {
    Digest& digest = digests[static_cast<std::size_t>(r)];
    const bool sends = r < 2;
    const std::int64_t other = sends ? r + 2 : r - 2;
    digest.path = "rank" + std::to_string(r) + ".json";
    digest.rank = r;
    digest.world_size = 4;
    digest.iterations = "profiler_step";
    digest.groups = {{r % 2 == 0 ? "5" : "6", "undefined", 2, {r % 2, r % 2 + 2}}};
    digest.names = {sends ? "send" : "recv", "Float"};
    digest.steps = {{.number = 1, .start_ns = 0, .end_ns = 1'000'000}};
    digest.end_ns = 1'000'000;
    for (std::int64_t i = 0; i < 4; ++i) {
      DigestCollective& c = digest.collectives.emplace_back();
      c.start_ns = 200'000 * i + (sends ? 50'000 : 0);
      c.end_ns = 200'000 * i + 100'000;
      c.dtype = 1;
      c.bytes = 1'000;
      (sends ? c.destination : c.source) = count_in_group ? other / 2 : other;
    }
  }
  return digests;
}

void expect_all_meet(bool count_in_group) {
  const std::vector<Digest> digests = two_pipelines(count_in_group);
  const Job job = assemble_job(digests);
  ASSERT_EQ(job.meetings.size(), 8U);
  for (const Meeting& meeting : job.meetings) {
    EXPECT_EQ(meeting.count, 2U);
    EXPECT_TRUE(meeting.complete);
    EXPECT_EQ(meeting.destination, meeting.source + 2);
    EXPECT_EQ(meeting.transfer_ns, 50'000);  // from when it was sent
  }
}

TEST(MatchMeetings, TheOtherEndByItsNumberInTheJob) { expect_all_meet(false); }

// In the second pipeline rank 1 sends to the group's 1, which is rank 3.
TEST(MatchMeetings, TheOtherEndByItsNumberInTheGroup) { expect_all_meet(true); }

}  // namespace
}  // namespace ridge
