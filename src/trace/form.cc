// Interning under one lock; after the load, tracks are renumbered by pid and tid and kinds by phase and category, so that no id
// that is seen outside depends on timing.
#include "trace/form.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

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

// Numbers before texts, each in their own order; a part that is absent comes first.
using PartOrder = std::tuple<TrackPart::Type, std::int64_t, std::string_view>;

PartOrder order_of(const TrackPart& part, const StringPool& strings) {
  if (part.type != TrackPart::Type::text) return {part.type, part.value, {}};
  return {part.type, 0, strings.at(StringId{static_cast<std::uint32_t>(part.value)})};
}

// Sorts `rows` by key(row) and says which id each has now, `ids` too.
template <class Rows, class Map, class Key>
std::vector<typename Map::mapped_type> put_in_order(Rows& rows, Map& ids, const Key& key) {
  using IdType = typename Map::mapped_type;
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(rows[a]) < key(rows[b]); });
  std::vector<IdType> now(rows.size());
  Rows ordered;
  ordered.reserve(rows.size());
  for (const std::uint32_t was : order) {
    now[was] = IdType{ordered.size()};
    ordered.push_back(rows[was]);
  }
  rows = std::move(ordered);
  for (auto& each : ids) each.second = now[each.second.value];
  return now;
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

ArgSchemaId FormTable::intern_schema(const std::vector<Slot>& slots) {
  ArgSchema schema{slots, 0};
  for (Slot& slot : schema.slots) {
    slot.word = schema.words;
    schema.words += words_of(slot.type);
  }
  const std::lock_guard lock(mutex_);
  return intern(schema.slots, schema_ids_, schemas_, [&] { return schema; });
}

FormId FormTable::intern_form(Form form) {
  const std::lock_guard lock(mutex_);
  return intern(form, form_ids_, forms_, [&] { return form; });
}

void FormTable::add_classes(std::vector<EventClass>* classes) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = classes->size(); i < forms_.size(); ++i) {
    const Kind& kind = kinds_[forms_[i].kind.value];
    classes->push_back(kind.phase == 'E' ? EventClass::other : kind.event_class);  // the end of a pair is no slice
  }
}

void FormTable::order_tracks(const StringPool& strings) {
  const std::lock_guard lock(mutex_);
  const auto tracks = put_in_order(tracks_, track_ids_, [&](const Track& track) {
    return std::pair(order_of(track.pid, strings), order_of(track.tid, strings));
  });
  const auto kinds =
      put_in_order(kinds_, kind_ids_, [&](const Kind& kind) { return std::pair(strings.at(kind.ph), strings.at(kind.cat)); });
  form_ids_.clear();
  for (std::size_t i = 0; i < forms_.size(); ++i) {
    forms_[i].track = tracks[forms_[i].track.value];
    forms_[i].kind = kinds[forms_[i].kind.value];
    form_ids_.emplace(forms_[i], FormId{i});
  }
}

}  // namespace ridge
