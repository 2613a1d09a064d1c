// args: one row for each value of each argument. Where the rows of an event start is counted once; the values are read from the
// event as they are asked for.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/lasting.h"
#include "base/string_pool.h"
#include "sql/perfetto.h"

namespace ridge::sql {
namespace {

enum Index : std::size_t { kId, kSet, kFlatKey, kKey, kInt, kString, kReal, kValueType, kDisplay };

const std::vector<RelationColumn>& arg_columns() {
  static const auto& kColumns = lasting(std::vector<RelationColumn>{
      {"id", Type::integer, Unit::none, Role::plain, "its number"},
      {"arg_set_id", Type::integer, Unit::none, Role::event, "the event: `arg_set_id` of `slice`"},
      {"flat_key", Type::text, Unit::none, Role::plain, "the key without indexes: `args.Input Dims`"},
      {"key", Type::text, Unit::none, Role::plain, "`args.` and the key, with the place in a list: `args.Input Dims[0][1]`"},
      {"int_value", Type::integer, Unit::none, Role::plain, "the value, where it is an integer or a boolean"},
      {"string_value", Type::text, Unit::none, Role::plain, "the value, where it is a text"},
      {"real_value", Type::number, Unit::none, Role::plain, "the value, where it is a number with a fraction"},
      {"value_type", Type::text, Unit::none, Role::plain, "int, real, bool or string"},
      {"display_value", Type::text, Unit::none, Role::plain, "the value as a text"},
  });
  return kColumns;
}

// As Perfetto writes a real: with a point.
std::string real_text(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

class ArgsRelation final : public Relation {
 public:
  explicit ArgsRelation(const PerfettoState& state) : trace_(state.trace), flat_(state.flat_args()) {
    std::uint64_t rows = 0;
    starts_.reserve(trace_.recorded_events() + std::size_t{1});
    std::vector<Counted> of_form(trace_.forms.forms().size());
    for (std::size_t i = 0; i < of_form.size(); ++i)
      of_form[i] = count(trace_.forms.schemas()[trace_.forms.forms()[i].schema.value]);
    for (std::uint32_t i = 0; i < trace_.recorded_events(); ++i) {
      starts_.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, UINT32_MAX)));
      const Counted& counted = of_form[trace_.events.form(EventId{i}).value];
      rows += counted.plain;
      for (const std::uint32_t word : counted.json)
        rows += flat_.leaves(StringId{trace_.events.words(EventId{i})[word]}).size();
    }
    starts_.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, UINT32_MAX)));
  }

  std::span<const RelationColumn> columns() const override { return arg_columns(); }
  std::uint64_t size() const override { return starts_.back(); }

  std::optional<RowRange> range_of(std::size_t column, std::int64_t value) const override {
    if (column != kSet) return std::nullopt;
    if (value < 0 || value >= std::int64_t{trace_.recorded_events()}) return RowRange{};
    const auto event = static_cast<std::size_t>(value);
    return RowRange{starts_[event], starts_[event + 1] - starts_[event]};
  }

  void read(std::size_t column, std::uint64_t first, const ValueRun& out) const override {
    if (out.known.empty()) return;
    const auto after = std::ranges::upper_bound(starts_, first);
    std::size_t done = 0;
    for (auto event = static_cast<std::uint32_t>(after - starts_.begin() - 1); done < out.known.size(); ++event) {
      std::uint64_t row = starts_[event];
      each_value(EventId{event}, [&](const Slot& slot, const FlatLeaf* leaf, const FlatValue& value) {
        if (row >= first && done < out.known.size()) put(column, row, EventId{event}, slot, leaf, value, out, done++);
        ++row;
      });
    }
  }

 private:
  struct Counted {
    std::uint32_t plain = 0;          // rows of arguments that are one value
    std::vector<std::uint32_t> json;  // words of those that are not
  };
  static Counted count(const ArgSchema& schema) {
    Counted counted;
    for (const Slot& slot : schema.slots) {
      if (slot.member || slot.type == ArgType::null) continue;
      if (slot.type == ArgType::json) {
        counted.json.push_back(slot.word);
      } else {
        ++counted.plain;
      }
    }
    return counted;
  }

  template <class Take>
  void each_value(EventId event, Take take) const {
    const std::uint32_t* const words = trace_.events.words(event);
    for (const Slot& slot : trace_.forms.schema(trace_.events.form(event)).slots) {
      if (slot.member) continue;
      if (slot.type == ArgType::json) {
        for (const FlatLeaf& leaf : flat_.leaves(StringId{words[slot.word]})) take(slot, &leaf, leaf.value);
      } else if (const auto value = FlatArgs::plain(value_of(trace_, slot, words))) {
        take(slot, nullptr, *value);
      }
    }
  }

  // Texts that no trace holds are kept here, each once.
  std::string_view kept(std::string_view text) const { return texts_.at(texts_.intern(text)); }

  std::string_view key_text(const Slot& slot, std::string_view path) const {
    return kept(std::string(kArgsPrefix).append(trace_.text(slot.key)).append(path));
  }

  std::string_view display(const FlatValue& value) const {
    switch (value.type) {
      case FlatType::integer: return kept(std::to_string(value.integer));
      case FlatType::boolean: return value.integer != 0 ? "true" : "false";
      case FlatType::number: return kept(real_text(value.number));
      default: return value.text;
    }
  }

  void put(std::size_t column, std::uint64_t row, EventId event, const Slot& slot, const FlatLeaf* leaf, const FlatValue& value,
           const ValueRun& out, std::size_t i) const {
    constexpr std::string_view kTypeTexts[] = {"int", "real", "bool", "string"};  // by FlatType
    const bool whole = value.type == FlatType::integer || value.type == FlatType::boolean;
    out.known[i] = 1;
    switch (column) {
      case kId: out.integers[i] = static_cast<std::int64_t>(row); break;
      case kSet: out.integers[i] = event.value; break;
      case kFlatKey: out.texts[i] = key_text(slot, leaf != nullptr ? std::string_view(leaf->flat_path) : ""); break;
      case kKey: out.texts[i] = key_text(slot, leaf != nullptr ? std::string_view(leaf->path) : ""); break;
      case kInt:
        out.known[i] = whole;
        out.integers[i] = value.integer;
        break;
      case kString:
        out.known[i] = value.type == FlatType::text;
        out.texts[i] = value.text;
        break;
      case kReal:
        out.known[i] = value.type == FlatType::number;
        out.numbers[i] = value.number;
        break;
      case kValueType: out.texts[i] = kTypeTexts[static_cast<std::size_t>(value.type)]; break;
      default: out.texts[i] = display(value); break;
    }
  }

  const Trace& trace_;
  FlatArgs& flat_;
  std::vector<std::uint32_t> starts_;  // of each event's rows, and the end
  mutable StringPool texts_;
};

}  // namespace

std::unique_ptr<Relation> make_args_table(const PerfettoState& state) { return std::make_unique<ArgsRelation>(state); }

}  // namespace ridge::sql
