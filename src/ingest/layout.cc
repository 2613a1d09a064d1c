#include "ingest/layout.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ingest/number.h"

namespace ridge {

Layout::Layout(FormTable* forms, TextCache* texts) : forms_(forms), texts_(texts), root_(add_node()), cached_forms_(1024) {}

Layout::Node* Layout::add_node() { return &nodes_.emplace_back(); }

inline bool Layout::matches(const Edge& edge, const char* p) {
  const char* gap = edge.gap;
  for (std::uint32_t block = 0; block < edge.full_blocks; ++block, p += 16, gap += 16) {
    if (Bytes16::load(p).equal(Bytes16::load(gap)) != kAllBytes) return false;
  }
  return (Bytes16::load(p).equal(Bytes16::load(gap)) | edge.beyond) == kAllBytes;
}

inline Layout::Edge* Layout::follow(Node* node, const char* p) {
  Edge* likely = node->likely;
  if (likely != nullptr && matches(*likely, p)) [[likely]] return likely;
  for (const auto& edge : node->edges) {
    if (edge.get() != likely && matches(*edge, p)) {
      node->likely = edge.get();
      return edge.get();
    }
  }
  return nullptr;
}

inline const char* Layout::read_text(const char* p, const char* end, StringId* id) {
  if (*p != '"') return nullptr;
  const char* after = skip_string(p + 1, end);
  if (after == nullptr) return nullptr;
  const Text text = texts_->string({p + 1, static_cast<std::size_t>(after - p - 2)});
  *id = text.id;
  return text.repairs.any() ? nullptr : after;
}

inline const char* Layout::read_track_part(const char* p, const char* end, std::int64_t* value, Way* way) {
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

inline const char* Layout::read_argument(const char* p, const char* end, Reading* reading, Way* way) {
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
  std::int64_t integer = 0;
  if (const char* after = read_integer(p, &integer)) [[likely]] {
    *reading->word++ = static_cast<std::uint32_t>(integer);
    *way = Way::int32;
    if (integer != static_cast<std::int32_t>(integer)) {
      *reading->word++ = static_cast<std::uint32_t>(static_cast<std::uint64_t>(integer) >> 32);
      *way = Way::int64;
    }
    return after;
  }
  const char* after = p;
  while (after < end && *after != ',' && *after != '}' && !is_space(*after)) ++after;
  const std::string_view token(p, static_cast<std::size_t>(after - p));
  if (token == "null") {
    *way = Way::null;
  } else if (token == "false") {
    *way = Way::false_value;
  } else if (token == "true") {
    *way = Way::true_value;
  } else if (is_json_number(token) && !is_integer_text(token)) {
    *way = Way::real;
    const auto bits = std::bit_cast<std::uint64_t>(real_of(token));
    *reading->word++ = static_cast<std::uint32_t>(bits);
    *reading->word++ = static_cast<std::uint32_t>(bits >> 32);
  } else {
    return nullptr;
  }
  return after;
}

FormId Layout::form_of(const Leaf& leaf, std::int64_t pid, std::int64_t tid) {
  const std::uint64_t hash = mix64(static_cast<std::uint64_t>(pid) + leaf.number, static_cast<std::uint64_t>(tid) ^ 0x9E3779B97F4A7C15);
  CachedForm& cached = cached_forms_[hash & (cached_forms_.size() - 1)];
  if (cached.leaf != leaf.number || cached.pid != pid || cached.tid != tid) [[unlikely]] {
    const TrackId track = forms_->intern_track({leaf.pid, leaf.pid == TrackPart::Type::absent ? 0 : pid},
                                               {leaf.tid, leaf.tid == TrackPart::Type::absent ? 0 : tid});
    cached = {leaf.number, forms_->intern_form({leaf.kind, track, leaf.shape}), pid, tid};
  }
  return cached.form;
}

const char* Layout::read(const char* p, const char* end, EventRun* run) {
  run->reserve(kMostWords);
  const std::size_t first_word = run->words.size();
  Reading reading;
  reading.word = run->words.data() + first_word;
  if (last_leaf_ != nullptr) root_->likely = last_leaf_->successor;
  Edge* first_edge = nullptr;
  for (Node* node = root_; node != nullptr;) {
    Edge* edge = follow(node, p);
    if (edge == nullptr) return nullptr;
    if (first_edge == nullptr) first_edge = edge;
    p += edge->size;
    Way way = Way::text;
    switch (edge->field) {
      case Field::argument: p = read_argument(p, end, &reading, &way); break;
      case Field::name: p = read_text(p, end, &reading.name); break;
      case Field::pid: p = read_track_part(p, end, &reading.pid, &way); break;
      case Field::tid: p = read_track_part(p, end, &reading.tid, &way); break;
      case Field::ts:
        way = Way::time;
        p = read_time(p, &reading.ts_ns);
        break;
      case Field::dur:
        way = Way::time;
        p = read_time(p, &reading.dur_ns);
        if (reading.dur_ns < 0) return nullptr;
        break;
      default: {  // the end
        run->words.set_size(static_cast<std::size_t>(reading.word - run->words.data()));
        run->add(reading.ts_ns, reading.dur_ns, reading.name, form_of(*edge->leaf, reading.pid, reading.tid), first_word);
        if (last_leaf_ != nullptr) last_leaf_->successor = first_edge;
        last_leaf_ = edge->leaf.get();
        return p;
      }
    }
    if (p == nullptr) return nullptr;
    node = edge->next[static_cast<std::size_t>(way)];
  }
  return nullptr;
}

Layout::Way Layout::way_of(Field field, ArgType type) {
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

Layout::Edge* Layout::find_or_add(Node* node, std::string_view gap, Field field) {
  for (const auto& edge : node->edges) {
    if (edge->field == field && std::string_view(edge->gap, edge->size) == gap) return edge.get();
  }
  if (node->edges.size() >= kMostEdges) return nullptr;
  auto edge = std::make_unique<Edge>();
  const std::size_t blocks = (gap.size() + 15) / 16;
  char* bytes = gaps_.allocate<char>(blocks * 16);
  std::memset(bytes, 0, blocks * 16);
  std::memcpy(bytes, gap.data(), gap.size());
  edge->gap = bytes;
  edge->size = static_cast<std::uint32_t>(gap.size());
  edge->full_blocks = static_cast<std::uint32_t>(blocks - 1);
  const std::size_t used = gap.size() - (blocks - 1) * 16;
  if (used < 16) edge->beyond = kAllBytes & ~((ByteSet{1} << (used * kBitsPerByte)) - 1);
  edge->field = field;
  node->edges.push_back(std::move(edge));
  return node->edges.back().get();
}

void Layout::learn(const EventText& event, const Recipe& recipe, const char* end) {
  if (!recipe.plain || nodes_.size() + event.members.size() > kMostNodes || event.members.size() > kMostWords / 2) return;
  // The gap behind the last value reaches to the next event's brace, which must be there.
  const char* comma = skip_space(event.end, end);
  if (comma >= end || *comma != ',') return;
  const char* next_event = skip_space(comma + 1, end);
  if (next_event >= end || *next_event != '{') return;

  Node* node = root_;
  const char* gap = event.begin;
  for (std::size_t i = 0; i <= event.members.size(); ++i) {
    const bool at_end = i == event.members.size();
    const Field field = at_end ? Field::end : recipe.parts[i].field;
    if (field == Field::ph || field == Field::cat || field == Field::folded) continue;
    const std::string_view value = at_end ? std::string_view(next_event, 0) : event.members[i].value;
    const int quote = !at_end && event.members[i].type == ValueType::string;
    const std::string_view text(gap, static_cast<std::size_t>(value.data() - quote - gap));
    if (text.empty() || text.size() > kLongestGap || text.find('\0') != std::string_view::npos) return;
    Edge* edge = find_or_add(node, text, field);
    if (edge == nullptr) return;
    if (at_end) {
      if (edge->leaf == nullptr) edge->leaf = std::make_unique<Leaf>(Leaf{recipe.kind, recipe.shape, recipe.pid, recipe.tid, leaves_++});
      return;
    }
    const Way way = way_of(field, recipe.parts[i].type);
    if (way == Way::count_) return;
    Node*& next = edge->next[static_cast<std::size_t>(way)];
    if (next == nullptr) next = add_node();
    node = next;
    gap = value.data() + value.size() + quote;
  }
}

}  // namespace ridge
