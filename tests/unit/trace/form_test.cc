// Equal content has one id; classes by phase and category; tracks in order of pid and tid.
#include "trace/form.h"

#include <gtest/gtest.h>

#include "trace/event_class.h"

namespace ridge {
namespace {

TEST(FormTable, EqualContentHasEqualId) {
  FormTable forms;
  const KindId kind = forms.intern_kind(StringId{1U}, StringId{2U}, "X", "kernel");
  EXPECT_EQ(forms.intern_kind(StringId{1U}, StringId{2U}, "X", "kernel"), kind);
  EXPECT_NE(forms.intern_kind(StringId{1U}, StringId{3U}, "X", "cpu_op"), kind);
  EXPECT_EQ(forms.kinds()[kind.value].event_class, EventClass::device_work);
  EXPECT_EQ(forms.kinds()[kind.value].work, DeviceWork::kernel);
  EXPECT_EQ(forms.kinds()[kind.value].phase, 'X');

  using Type = TrackPart::Type;
  const TrackId track = forms.intern_track({Type::integer, 1}, {Type::integer, 2});
  EXPECT_EQ(forms.intern_track({Type::integer, 1}, {Type::integer, 2}), track);
  EXPECT_NE(forms.intern_track({Type::text, 1}, {Type::integer, 2}), track);
  EXPECT_NE(forms.intern_track({Type::absent, 0}, {Type::integer, 2}),
            forms.intern_track({Type::integer, 0}, {Type::integer, 2}));

  const ArgSchemaId schema = forms.intern_schema({});
  const FormId form = forms.intern_form({kind, track, schema});
  EXPECT_EQ(forms.intern_form({kind, track, schema}), form);
  EXPECT_EQ(forms.form(form).track, track);
}

TEST(FormTable, ShapesPackTheirWords) {
  FormTable forms;
  std::vector<Slot> slots(6);
  const ArgType types[] = {ArgType::int32, ArgType::null, ArgType::int64, ArgType::text, ArgType::fixed_text, ArgType::real};
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].key = StringId{i};
    slots[i].type = types[i];
  }
  const ArgSchemaId id = forms.intern_schema(slots);
  const ArgSchema& schema = forms.schemas()[id.value];
  EXPECT_EQ(schema.words, 6U);
  const std::uint32_t expected[] = {0, 1, 1, 3, 4, 4};
  for (std::size_t i = 0; i < slots.size(); ++i) EXPECT_EQ(schema.slots[i].word, expected[i]) << i;
  EXPECT_EQ(forms.intern_schema(slots), id);
  std::swap(slots[0], slots[1]);
  EXPECT_NE(forms.intern_schema(slots), id);
}

TEST(EventClasses, ByPhaseThenCategory) {
  EXPECT_EQ(classify("X", "cpu_op"), EventClass::op);
  EXPECT_EQ(classify("X", "kernel"), EventClass::device_work);
  EXPECT_EQ(classify("X", "gpu_memcpy"), EventClass::device_work);
  EXPECT_EQ(classify("X", "cuda_driver"), EventClass::launch);
  EXPECT_EQ(classify("X", "python_function"), EventClass::python_frame);
  EXPECT_EQ(classify("X", "gpu_user_annotation"), EventClass::gpu_annotation);
  EXPECT_EQ(classify("X", "Trace"), EventClass::span);
  EXPECT_EQ(classify("X", "no such category"), EventClass::other);
  EXPECT_EQ(classify("X", ""), EventClass::other);
  EXPECT_EQ(classify("i", "cpu_instant_event"), EventClass::memory);
  EXPECT_EQ(classify("i", ""), EventClass::mark);
  EXPECT_EQ(classify("i", "kernel"), EventClass::mark);
  EXPECT_EQ(classify("X", "cpu_instant_event"), EventClass::other);
  EXPECT_EQ(classify("s", "kernel"), EventClass::flow);
  EXPECT_EQ(classify("f", "ac2g"), EventClass::flow);
  EXPECT_EQ(classify("M", ""), EventClass::metadata);
  EXPECT_EQ(classify("C", ""), EventClass::counter);
  EXPECT_EQ(classify("?", "kernel"), EventClass::other);
  EXPECT_TRUE(is_known_phase("t"));
  EXPECT_FALSE(is_known_phase("XX"));
  EXPECT_FALSE(is_known_phase(""));
}

TEST(Forms, TracksAreNumberedByPidAndTid) {
  StringPool strings;
  const auto number = [](std::int64_t value) { return TrackPart{TrackPart::Type::integer, value}; };
  const auto text = [&](std::string_view value) { return TrackPart{TrackPart::Type::text, strings.intern(value).value}; };
  FormTable forms;
  const KindId kind = forms.intern_kind(strings.intern("X"), strings.intern("kernel"), "X", "kernel");
  std::vector<FormId> made;
  const std::pair<TrackPart, TrackPart> met[] = {
      {text("b"), number(1)}, {number(7), number(2)}, {text("a"), number(1)}, {number(-3), number(9)}, {number(7), number(1)}};
  for (const auto& [pid, tid] : met) made.push_back(forms.intern_form({kind, forms.intern_track(pid, tid), ArgSchemaId{0U}}));
  forms.order_tracks(strings);
  const std::uint32_t expected[] = {4, 2, 3, 0, 1};
  for (std::size_t i = 0; i < made.size(); ++i) {
    const TrackId track = forms.form(made[i]).track;
    EXPECT_EQ(track.value, expected[i]);
    EXPECT_EQ(forms.track(track).pid, met[i].first);
    EXPECT_EQ(forms.intern_track(met[i].first, met[i].second), track);
    EXPECT_EQ(forms.intern_form({kind, track, ArgSchemaId{0U}}), made[i]);
  }
}

}  // namespace
}  // namespace ridge
