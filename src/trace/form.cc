#include "trace/form.h"

namespace ridge {
namespace {

// The id of `key` in `ids`; when it is new, the next index of `rows`, which receives make()'s row.
template <class Key, class Map, class Rows, class Make>
auto intern(const Key& key, Map& ids, Rows& rows, Make make) {
  using IdType = typename Map::mapped_type;
  const auto [it, is_new] = ids.try_emplace(key, IdType{rows.size()});
  if (is_new) rows.push_back(make());
  return it->second;
}

}  // namespace

FormTable::FormTable() = default;

KindId FormTable::intern_kind(StringId ph, StringId cat, std::string_view ph_text, std::string_view cat_text) {
  const std::lock_guard lock(mutex_);
  return intern(std::pair{ph, cat}, kind_ids_, kinds_, [&] {
    const EventClass event_class = classify(ph_text, cat_text);
    const CategoryRow* row = event_class == EventClass::device_work ? find_category(cat_text) : nullptr;
    return Kind{.ph = ph,
                .cat = cat,
                .event_class = event_class,
                .work = row != nullptr ? row->work : DeviceWork::none,
                .phase = ph_text.size() == 1 ? ph_text[0] : '\0'};
  });
}

TrackId FormTable::intern_track(TrackPart pid, TrackPart tid) {
  const std::lock_guard lock(mutex_);
  return intern(std::pair{pid, tid}, track_ids_, tracks_, [&] {
    Track track;
    track.pid = pid;
    track.tid = tid;
    return track;
  });
}

ShapeId FormTable::intern_shape(const std::vector<Slot>& slots) {
  Shape shape{slots, 0};
  for (Slot& slot : shape.slots) {
    slot.word = shape.words;
    shape.words += words_of(slot.type);
  }
  const std::lock_guard lock(mutex_);
  return intern(shape.slots, shape_ids_, shapes_, [&] { return shape; });
}

FormId FormTable::intern_form(Form form) {
  const std::lock_guard lock(mutex_);
  return intern(form, form_ids_, forms_, [&] { return form; });
}

}  // namespace ridge
