// The forms of compile ids and of frame names, and what is none.
#include "model/compile_id.h"

#include <gtest/gtest.h>

#include "model/frame_name.h"

namespace ridge {
namespace {

TEST(CompileId, FormsOfDynamo) {
  EXPECT_EQ(parse_compile_id("3/1"), (CompileId{-1, 3, 1}));
  EXPECT_EQ(parse_compile_id("!2/3/1"), (CompileId{2, 3, 1}));
  EXPECT_EQ(parse_compile_id("!4"), (CompileId{4, -1, -1}));
  EXPECT_EQ(parse_compile_id("!ca/0/1"), (CompileId{0, 0, 1}));
  EXPECT_EQ(parse_compile_id("0/0_1"), (CompileId{-1, 0, 0}));
  EXPECT_EQ(text_of(parse_compile_id("!2/3/1")), "!2/3/1");
  EXPECT_EQ(text_of(CompileId{-1, 3, -1}), "3");  // any version of the frame
  EXPECT_EQ(text_of(CompileId{}), "");
}

TEST(CompileId, AnythingElseIsNotKnown) {
  for (const char* text : {"", "Unknown", "None", "1", "1/", "/1", "1/x", "1/2/3", "!", "!x", "-1/0", "99999999999/0"}) {
    EXPECT_FALSE(parse_compile_id(text).known()) << text;
  }
}

TEST(FrameName, PathLineFunction) {
  const auto frame = parse_frame_name("a (b)/c.py(85): outer");
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->file, "a (b)/c.py");
  EXPECT_EQ(frame->line, 85);
  EXPECT_EQ(frame->function, "outer");
  EXPECT_FALSE(parse_frame_name("<built-in function getattr>").has_value());
  EXPECT_FALSE(parse_frame_name("nn.Module: Linear_3").has_value());
  EXPECT_FALSE(parse_frame_name("x.py(a): f").has_value());
}

TEST(FrameName, ResumedFrameStandsAtItsBreak) {
  EXPECT_EQ(location_of(*parse_frame_name("m.py(94): torch_dynamo_resume_in_forward_at_97")), "m.py:97 (forward)");
  EXPECT_EQ(location_of(*parse_frame_name("m.py(94): resume_in_forward")), "m.py:94 (forward)");
  EXPECT_EQ(location_of(*parse_frame_name("m.py(94): forward_at_3")), "m.py:94 (forward_at_3)");
}

}  // namespace
}  // namespace ridge
