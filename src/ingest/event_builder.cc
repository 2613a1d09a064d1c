// One function per kind of member; `take` decides which.
#include "ingest/event_builder.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <unordered_map>

#include "base/time_limits.h"
#include "ingest/number.h"
#include "trace/arg_key.h"

namespace ridge {
namespace {

constexpr std::string_view kCoreKeys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur"};  // in the order of Field

Field field_of(const Member& member, std::string_view key) {
  if (member.in_args) return Field::argument;
  const auto* core = std::find(std::begin(kCoreKeys), std::end(kCoreKeys), key);
  if (core != std::end(kCoreKeys)) return static_cast<Field>(core - std::begin(kCoreKeys));
  const bool foldable = (key == "bp" || key == "s") && member.type == ValueType::string && member.value.size() <= 2;
  return foldable ? Field::folded : Field::argument;
}

ArgType type_of_literal(ValueType type) {
  switch (type) {
    case ValueType::true_value: return ArgType::true_value;
    case ValueType::false_value: return ArgType::false_value;
    default: return ArgType::null;
  }
}

}  // namespace

void EventBuilder::push_words(std::uint64_t value) {
  push_word(static_cast<std::uint32_t>(value));
  push_word(static_cast<std::uint32_t>(value >> 32));
}

StringId EventBuilder::text_of(const Member& member) {
  const Text text = texts_->string(member.value);
  repairs_.add(text.repairs);
  return text.id;
}

TrackPart EventBuilder::track_part(const Member& member) {
  if (member.type == ValueType::null) return {};
  std::int64_t value = 0;
  if (member.type == ValueType::number && is_integer_text(member.value)) {
    const char* end = member.value.data() + member.value.size();
    if (std::from_chars(member.value.data(), end, value).ec == std::errc{}) return {TrackPart::Type::integer, value};
  }
  return {TrackPart::Type::text, text_of(member).value};
}

void EventBuilder::take_time(Field field, const Member& member) {
  bool& given = field == Field::ts ? core_.has_ts : core_.has_dur;
  given = false;  // of a duplicate the last counts, whatever it is
  if (field == Field::ts) {
    core_.ts_out_of_range = false;
    core_.ts_ns = Core{}.ts_ns;
  } else {
    core_.dur_ns = Core{}.dur_ns;
    repairs_.remove(Problem::negative_duration);
  }
  const std::string_view text = member.value;
  if (member.type == ValueType::string) {
    if (!is_json_number(text)) return;
    note(Problem::time_as_text);
  } else if (member.type != ValueType::number) {
    return;
  }
  const std::optional<std::int64_t> ns = time_ns_of(text);
  if (!ns || *ns > (field == Field::ts ? kLatestTimeNs : kLongestDurationNs) || *ns < kEarliestTimeNs) {
    if (field == Field::ts) core_.ts_out_of_range = true;
    return;
  }
  given = true;
  if (field == Field::ts) {
    core_.ts_ns = *ns;
  } else if (*ns >= 0) {
    core_.dur_ns = *ns;
  } else {
    core_.dur_ns = kUnknownDuration;
    note(Problem::negative_duration);
  }
}

void EventBuilder::take_core(Field field, const Member& member) {
  const std::uint32_t bit = 1U << static_cast<unsigned>(field);
  if ((core_seen_ & bit) != 0) note(Problem::duplicate_key);
  core_seen_ |= bit;
  switch (field) {
    case Field::ph:
      core_.has_ph = member.type == ValueType::string;
      core_.ph = text_of(member);
      break;
    case Field::cat: core_.cat = member.type == ValueType::null ? StringId{} : text_of(member); break;
    case Field::name: core_.name = text_of(member); break;
    case Field::pid: core_.pid = track_part(member); break;
    case Field::tid: core_.tid = track_part(member); break;
    default: take_time(field, member); break;
  }
}

void EventBuilder::take_number(std::string_view text, Slot* slot) {
  if (!is_integer_text(text)) {
    slot->type = ArgType::real;
    push_words(std::bit_cast<std::uint64_t>(real_of(text)));
    return;
  }
  const char* end = text.data() + text.size();
  std::int64_t value = 0;
  std::uint64_t large = 0;
  if (std::from_chars(text.data(), end, value).ec == std::errc{}) {
    const bool small = value >= INT32_MIN && value <= INT32_MAX;
    slot->type = small ? ArgType::int32 : ArgType::int64;
    if (small) {
      push_word(static_cast<std::uint32_t>(value));
    } else {
      push_words(static_cast<std::uint64_t>(value));
    }
  } else if (std::from_chars(text.data(), end, large).ec == std::errc{}) {
    slot->type = ArgType::uint64;
    push_words(large);
  } else {
    note(Problem::big_integer);
    slot->type = ArgType::big_integer;
    push_word(strings_->intern(text).value);
  }
}

void EventBuilder::take_argument(StringId key, const Member& member) {
  Slot slot;
  slot.key = key;
  slot.member = !member.in_args;
  slot.word = static_cast<std::uint32_t>(words_.size());
  switch (member.type) {
    case ValueType::number: take_number(member.value, &slot); break;
    case ValueType::string:
      slot.type = ArgType::text;
      push_word(text_of(member).value);
      break;
    case ValueType::nested: {
      const Text text = texts_->json(member.value);
      repairs_.add(text.repairs);
      slot.type = text.repairs.any() ? ArgType::text : ArgType::json;
      push_word(text.id.value);
      break;
    }
    default: slot.type = type_of_literal(member.type); break;
  }
  slots_.push_back(slot);
}

void EventBuilder::take(const Member& member) {
  const Text key = texts_->string(member.key);
  repairs_.add(key.repairs);
  const std::string_view key_text = strings_->at(key.id);
  const Field field = field_of(member, key_text);
  Recipe::Part part{field, ArgType::null};
  if (field < Field::argument) {
    take_core(field, member);
    part.type = member.type == ValueType::string ? ArgType::text : ArgType::int64;
    const TrackPart* track = field == Field::pid ? &core_.pid : field == Field::tid ? &core_.tid : nullptr;
    // A number that is no 64-bit integer names its track by text: nothing to learn by rote.
    if (track != nullptr && (track->type == TrackPart::Type::text) != (part.type == ArgType::text))
      part.type = ArgType::big_integer;
    if (track != nullptr && track->type == TrackPart::Type::absent) part.type = ArgType::big_integer;
  } else if (field == Field::folded) {
    Slot slot;
    slot.key = key.id;
    slot.type = ArgType::fixed_text;
    slot.member = true;
    slot.word = static_cast<std::uint32_t>(words_.size());
    slot.fixed = text_of(member);
    slots_.push_back(slot);
  } else {
    take_argument(key.id, member);
    part.type = slots_.back().type;
  }
  recipe_.parts.push_back(part);
}

// Keeps the last of slots with equal key and place, and packs the words anew.
void EventBuilder::drop_duplicates() {
  const auto key = [](const Slot& slot) { return std::uint64_t{slot.key.value} << 1 | slot.member; };
  bool any = false;
  std::unordered_map<std::uint64_t, std::size_t> last;
  if (slots_.size() <= 24) {
    for (std::size_t i = 1; i < slots_.size() && !any; ++i) {
      any = std::any_of(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const Slot& s) { return key(s) == key(slots_[i]); });
    }
    if (!any) return;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) last[key(slots_[i])] = i;
  if (last.size() == slots_.size()) return;
  note(Problem::duplicate_key);
  std::vector<Slot> slots;
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (last[key(slots_[i])] != i) continue;
    Slot slot = slots_[i];
    const std::uint32_t from = slot.word;
    slot.word = static_cast<std::uint32_t>(words.size());
    for (std::uint32_t w = 0; w < words_of(slot.type); ++w) words.push_back(words_[from + w]);
    slots.push_back(slot);
  }
  slots_ = std::move(slots);
  words_ = std::move(words);
}

bool EventBuilder::add(const EventText& event, std::uint64_t offset, EventRun* run, Diagnostics* diagnostics) {
  core_ = {};
  slots_.clear();
  words_.clear();
  recipe_.parts.clear();
  repairs_ = event.repairs;
  core_seen_ = 0;
  for (const Member& member : event.members) take(member);
  drop_duplicates();

  if (!core_.has_ph) {
    diagnostics->add(Problem::no_phase, offset);
    return false;
  }
  const std::string_view ph = strings_->at(core_.ph);
  const bool known = is_known_phase(ph);
  if (ph != "M" && (core_.ts_out_of_range || (!core_.has_ts && known))) {  // a name needs no time
    diagnostics->add(core_.ts_out_of_range ? Problem::time_out_of_range : Problem::no_timestamp, offset);
    return false;
  }
  if (!known) note(Problem::unknown_phase);
  if (ph == "X" && !core_.has_dur) note(Problem::missing_duration);

  recipe_.kind = forms_->intern_kind(core_.ph, core_.cat, ph, strings_->at(core_.cat));
  recipe_.schema = forms_->intern_schema(slots_);
  recipe_.pid = core_.pid;
  recipe_.tid = core_.tid;
  recipe_.plain = !repairs_.any();
  const FormId form = forms_->intern_form({recipe_.kind, forms_->intern_track(core_.pid, core_.tid), recipe_.schema});

  run->reserve(words_.size());
  const std::size_t first_word = run->words.size();
  for (const std::uint32_t word : words_) run->words.push_reserved(word);
  run->add(core_.ts_ns, core_.dur_ns, core_.name, form, first_word);
  for (std::uint64_t bits = repairs_.bits; bits != 0; bits &= bits - 1) {
    diagnostics->add(static_cast<Problem>(std::countr_zero(bits)), offset);
  }
  return true;
}

}  // namespace ridge
