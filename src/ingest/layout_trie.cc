// read() follows edges and never allocates; learn() adds the path of an event that the general path has read.
#include "ingest/layout_trie.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/time_limits.h"
#include "ingest/number.h"

namespace ridge {
namespace {

// Times that need a word of explanation are the general path's.
bool is_possible_time(std::int64_t ns) {
  constexpr auto kEarliest = static_cast<std::uint64_t>(kEarliestTimeNs), kLatest = static_cast<std::uint64_t>(kLatestTimeNs);
  return static_cast<std::uint64_t>(ns) - kEarliest <= kLatest - kEarliest;
}

bool is_possible_duration(std::int64_t ns) {
  return static_cast<std::uint64_t>(ns) <= static_cast<std::uint64_t>(kLongestDurationNs);
}

}  // namespace

LayoutTrie::LayoutTrie(FormTable* forms, TextCache* texts)
    : forms_(forms), texts_(texts), root_(&nodes_.emplace_back()), cached_forms_(1024) {}

inline bool LayoutTrie::matches(const Edge& edge, const char* p) {
  const char* gap = edge.gap.data();
  for (unsigned block = edge.full_blocks; block != 0; --block, p += 16, gap += 16) {
    if (Bytes16::load(p).equal(Bytes16::load(gap)) != kAllBytes) return false;
  }
  return (Bytes16::load(p).equal(Bytes16::load(gap)) | edge.beyond) == kAllBytes;
}

inline LayoutTrie::Edge* LayoutTrie::follow(Node* node, const char* p) {
  Edge* likely = node->likely;
  if (likely != nullptr && matches(*likely, p)) [[likely]]
    return likely;
  for (const auto& edge : node->edges) {
    if (edge.get() != likely && matches(*edge, p)) {
      node->likely = edge.get();
      return edge.get();
    }
  }
  return nullptr;
}

inline const char* LayoutTrie::read_text(const char* p, const char* end, StringId* id) {
  if (*p != '"') return nullptr;
  const char* after = skip_string(p + 1, end);
  if (after == nullptr) return nullptr;
  const Text text = texts_->string({p + 1, static_cast<std::size_t>(after - p - 2)});
  *id = text.id;
  return text.repairs.any() ? nullptr : after;
}

const char* LayoutTrie::read_track_part(const char* p, const char* end, std::int64_t* value, Way* way) {
  if (*p != '"') {
    *way = Way::int64;
    return read_integer(p, value);
  }
  *way = Way::text;
  StringId id;
  const char* after = read_text(p, end, &id);
  *value = id.value;
  return after;
}

inline const char* LayoutTrie::read_integer_argument(const char* p, Reading* reading, Way* way) {
  std::int64_t integer = 0;
  const char* after = read_integer(p, &integer);
  if (after == nullptr) return nullptr;
  *reading->word++ = static_cast<std::uint32_t>(integer);
  *way = Way::int32;
  if (integer != static_cast<std::int32_t>(integer)) {
    *reading->word++ = static_cast<std::uint32_t>(static_cast<std::uint64_t>(integer) >> 32);
    *way = Way::int64;
  }
  return after;
}

// Arguments other than plain integers.
const char* LayoutTrie::read_argument(const char* p, const char* end, Reading* reading, Way* way) {
  if (*p == '"') {
    *way = Way::text;
    StringId id;
    p = read_text(p, end, &id);
    *reading->word++ = id.value;
    return p;
  }
  if (*p == '[' || *p == '{') {
    *way = Way::json;
    const char* after = skip_nested(p, end);
    if (after == nullptr) return nullptr;
    const Text text = texts_->json({p, static_cast<std::size_t>(after - p)});
    *reading->word++ = text.id.value;
    return text.repairs.any() ? nullptr : after;
  }
  double real = 0;
  const char* after = read_real(p, &real);
  if (after == nullptr) {
    after = p;
    while (after < end && *after != ',' && *after != '}' && !is_space(*after)) ++after;
    const std::string_view token(p, static_cast<std::size_t>(after - p));
    *way = token == "null" ? Way::null : token == "false" ? Way::false_value : token == "true" ? Way::true_value : Way::real;
    if (*way != Way::real) return after;
    if (!is_json_number(token) || is_integer_text(token)) return nullptr;
    real = real_of(token);
  }
  *way = Way::real;
  const auto bits = std::bit_cast<std::uint64_t>(real);
  *reading->word++ = static_cast<std::uint32_t>(bits);
  *reading->word++ = static_cast<std::uint32_t>(bits >> 32);
  return after;
}

FormId LayoutTrie::find_form(const Leaf& leaf, std::int64_t pid, std::int64_t tid) {
  const std::uint64_t hash =
      mix64(static_cast<std::uint64_t>(pid) + leaf.number, static_cast<std::uint64_t>(tid) ^ 0x9E3779B97F4A7C15);
  CachedForm& cached = cached_forms_[hash & (cached_forms_.size() - 1)];
  if (cached.leaf != leaf.number || cached.pid != pid || cached.tid != tid) [[unlikely]] {
    const TrackId track = forms_->intern_track({leaf.pid, pid}, {leaf.tid, tid});
    cached = {leaf.number, forms_->intern_form({leaf.kind, track, leaf.schema}), pid, tid};
  }
  return cached.form;
}

inline FormId LayoutTrie::form_of(Leaf* leaf, const Reading& reading) {
  const Edge* track = reading.track;
  if (track == nullptr) return find_form(*leaf, reading.pid, reading.tid);
  if (track != leaf->last_track) {
    leaf->last_track = track;
    leaf->last_form = find_form(*leaf, track->pid, track->tid);
  }
  return leaf->last_form;
}

const char* LayoutTrie::read(const char* p, const char* end, EventRun* run) {
  const char* const begin = p;
  run->reserve(kMostWords);
  const std::size_t first_word = run->words.size();
  Reading reading;
  reading.word = run->words.data() + first_word;
  if (last_leaf_ != nullptr) root_->likely = last_leaf_->successor;
  Edge* const first_edge = follow(root_, p);
  for (Edge* edge = first_edge; edge != nullptr;) {
    p += edge->size;
    if (edge->holds_track) reading.track = edge;
    Way way = Way::time;
    switch (edge->field) {
      case Field::argument:
        // Most are integers; `after` is not when the text is none, or one that goes on as a real.
        if (const char* after = read_integer_argument(p, &reading, &way)) [[likely]] {
          p = after;
        } else {
          p = read_argument(p, end, &reading, &way);
        }
        break;
      case Field::ts:
        p = read_time(p, &reading.ts_ns);
        if (!is_possible_time(reading.ts_ns)) return nullptr;
        break;
      case Field::dur:
        p = read_time(p, &reading.dur_ns);
        if (!is_possible_duration(reading.dur_ns)) return nullptr;
        break;
      case Field::name:
        way = Way::text;
        p = read_text(p, end, &reading.name);
        break;
      case Field::pid: p = read_track_part(p, end, &reading.pid, &way); break;
      case Field::tid: p = read_track_part(p, end, &reading.tid, &way); break;
      default:  // the end
        if (p - begin > kLongestEvent) return nullptr;
        run->words.set_size(static_cast<std::size_t>(reading.word - run->words.data()));
        run->add(reading.ts_ns, reading.dur_ns, reading.name, form_of(edge->leaf, reading), first_word);
        if (last_leaf_ != nullptr) last_leaf_->successor = first_edge;
        last_leaf_ = edge->leaf;
        return p;
    }
    if (p == nullptr) return nullptr;
    Node* node = (*edge->fan)[static_cast<std::size_t>(way)];
    if (node == nullptr) return nullptr;
    edge = follow(node, p);
  }
  return nullptr;
}

LayoutTrie::Way LayoutTrie::way_of(Field field, ArgType type) {
  if (field == Field::ts || field == Field::dur) return Way::time;
  if (field == Field::name) return Way::text;
  switch (type) {
    case ArgType::int32: return Way::int32;
    case ArgType::int64: return Way::int64;
    case ArgType::real: return Way::real;
    case ArgType::text: return Way::text;
    case ArgType::json: return Way::json;
    case ArgType::null: return Way::null;
    case ArgType::false_value: return Way::false_value;
    case ArgType::true_value: return Way::true_value;
    default: return Way::count_;  // read by the general path alone
  }
}

// pid and tid can be part of a gap when they are plain integers side by side and the node has not met too many of them.
bool LayoutTrie::may_fold_track(const Node& node, const EventText& event, const Recipe& recipe, std::size_t member) const {
  if (member + 1 >= event.members.size()) return false;
  const Field a = recipe.parts[member].field, b = recipe.parts[member + 1].field;
  const bool pair = (a == Field::pid && b == Field::tid) || (a == Field::tid && b == Field::pid);
  const bool integers = recipe.pid.type == TrackPart::Type::integer && recipe.tid.type == TrackPart::Type::integer;
  const auto tracks = std::count_if(node.edges.begin(), node.edges.end(), [](const auto& edge) { return edge->holds_track; });
  return pair && integers && static_cast<std::size_t>(tracks) < kMostTracks;
}

LayoutTrie::Edge* LayoutTrie::find_or_add(Node* node, const Gap& gap, Field field, const Recipe& recipe) {
  Fan* fan = nullptr;
  for (const auto& edge : node->edges) {
    if (edge->field != field || edge->skeleton != gap.skeleton) continue;
    if (std::string_view(edge->gap.data(), edge->size) == gap.text) return edge.get();
    fan = edge->fan;
  }
  if (node->edges.size() >= kMostEdges) return nullptr;
  auto edge = std::make_unique<Edge>();
  std::memcpy(edge->gap.data(), gap.text.data(), gap.text.size());
  edge->size = static_cast<std::uint32_t>(gap.text.size());
  edge->full_blocks = static_cast<std::uint16_t>((gap.text.size() - 1) / 16);
  const std::size_t used = gap.text.size() - edge->full_blocks * std::size_t{16};
  if (used < 16) edge->beyond = kAllBytes & ~((ByteSet{1} << (used * kBitsPerByte)) - 1);
  edge->field = field;
  edge->fan = fan != nullptr ? fan : &fans_.emplace_back();
  edge->holds_track = gap.holds_track;
  edge->pid = recipe.pid.value;
  edge->tid = recipe.tid.value;
  edge->skeleton = gap.skeleton;
  if (field == Field::end) {
    edge->leaf = &leaves_.emplace_back();
    edge->leaf->kind = recipe.kind;
    edge->leaf->schema = recipe.schema;
    edge->leaf->pid = recipe.pid.type;
    edge->leaf->tid = recipe.tid.type;
    edge->leaf->number = static_cast<std::uint32_t>(leaves_.size());
  }
  node->edges.push_back(std::move(edge));
  return node->edges.back().get();
}

void LayoutTrie::learn(const EventText& event, const Recipe& recipe, const char* end) {
  if (!recipe.plain || nodes_.size() + event.members.size() > kMostNodes || event.members.size() > kMostWords / 2) return;
  // The gap behind the last value reaches to the next event's brace, which must be there.
  const char* comma = skip_space(event.end, end);
  if (comma >= end || *comma != ',') return;
  const char* next_event = skip_space(comma + 1, end);
  if (next_event >= end || *next_event != '{') return;

  Node* node = root_;
  const char* from = event.begin;  // of the gap
  const char* kept_from = from;    // of the part of the gap that is not yet in its skeleton
  Gap gap;
  for (std::size_t i = 0; i <= event.members.size(); ++i) {
    const bool at_end = i == event.members.size();
    const Field field = at_end ? Field::end : recipe.parts[i].field;
    if (field == Field::ph || field == Field::cat || field == Field::folded) continue;
    if (may_fold_track(*node, event, recipe, i)) {
      for (const std::size_t part : {i, i + 1}) {
        const std::string_view number = event.members[part].value;
        gap.skeleton.append(kept_from, number.data());
        kept_from = number.data() + number.size();
      }
      gap.holds_track = true;
      ++i;
      continue;
    }
    const std::string_view value = at_end ? std::string_view(next_event, 0) : event.members[i].value;
    const int quote = !at_end && event.members[i].type == ValueType::string;
    gap.text = {from, static_cast<std::size_t>(value.data() - quote - from)};
    gap.skeleton.append(kept_from, value.data() - quote);
    if (gap.text.empty() || gap.text.size() > kLongestGap || gap.text.find('\0') != std::string_view::npos) return;
    Edge* edge = find_or_add(node, gap, field, recipe);
    if (edge == nullptr || at_end) return;
    const Way way = way_of(field, recipe.parts[i].type);
    if (way == Way::count_) return;
    Node*& next = (*edge->fan)[static_cast<std::size_t>(way)];
    if (next == nullptr) next = &nodes_.emplace_back();
    node = next;
    from = kept_from = value.data() + value.size() + quote;
    gap = {};
  }
}

}  // namespace ridge
