// Writer and reader of the same layout, field by field: one function serves both, so that they cannot differ.
#include "job/digest_file.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/hash.h"

namespace ridge {
namespace {

// A version that is not known is told apart from what is no digest.
constexpr std::string_view kFamily = kDigestMagic.substr(0, 7);
constexpr std::size_t kFrame = 8;  // bytes of the length, and of the hash

std::uint64_t fold_sign(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unfold_sign(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

class DigestWriter {
 public:
  static constexpr bool kReads = false;
  explicit DigestWriter(std::string* out) : out_(*out) {}

  bool good() const { return true; }
  void number(std::uint64_t& value) {
    std::uint64_t rest = value;
    for (; rest >= 0x80; rest >>= 7) out_ += static_cast<char>(rest | 0x80);
    out_ += static_cast<char>(rest);
  }
  void bytes(std::uint32_t& value) {
    for (int i = 0; i < 4; ++i) out_ += static_cast<char>(value >> (8 * i));
  }
  void text(std::string& value) {
    std::uint64_t size = value.size();
    number(size);
    out_ += value;
  }
  template <class Row>
  void count(std::vector<Row>& rows, std::size_t) {
    std::uint64_t size = rows.size();
    number(size);
  }

 private:
  std::string& out_;
};

// After the first thing that is wrong everything is 0, and good() says so.
class DigestReader {
 public:
  static constexpr bool kReads = true;
  explicit DigestReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool good() const { return good_; }
  bool at_end() const { return at_ == end_; }
  void number(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return;
    }
    fail_with(&value);
  }
  void bytes(std::uint32_t& value) {
    value = 0;
    if (end_ - at_ < 4) return fail_with(&value);
    for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(static_cast<unsigned char>(*at_++)) << (8 * i);
  }
  void text(std::string& value) {
    std::uint64_t size = 0;
    number(size);
    if (size > static_cast<std::uint64_t>(end_ - at_)) return fail_with(&size);
    value.assign(at_, static_cast<std::size_t>(size));
    at_ += size;
  }
  // A row takes `least` bytes at least: no count makes more of them than the file can hold.
  template <class Row>
  void count(std::vector<Row>& rows, std::size_t least) {
    std::uint64_t size = 0;
    number(size);
    if (size > static_cast<std::uint64_t>(end_ - at_) / least) return fail_with(&size);
    rows.resize(static_cast<std::size_t>(size));
  }

 private:
  template <class Value>
  void fail_with(Value* value) {
    *value = 0;
    at_ = end_;
    good_ = false;
  }

  const char* at_;
  const char* end_;
  bool good_ = true;
};

template <class Stream>
class DigestFields {
 public:
  explicit DigestFields(Stream* stream) : s_(*stream) {}

  void all(Digest& d) {
    text(d.path), text(d.host), text(d.device), text(d.backend), text(d.iterations);
    maybe(d.rank), maybe(d.world_size), maybe(d.base_time_ns);
    flag(d.damaged);
    integer(d.start_ns), integer(d.end_ns);
    rows(
        d.groups,
        [&](DigestGroup& g) {
          text(g.name), text(g.description), maybe(g.size);
          std::int64_t before = 0;
          rows(g.ranks, [&](std::int64_t& rank) { difference(rank, before); });
        },
        4);
    rows(d.names, [&](std::string& name) { text(name); });
    steps(d);
    collectives(d);
    items(d);
    rows(
        d.kernels,
        [&](DigestKernel& k) {
          text(k.name), s_.bytes(k.shape), integer(k.count), integer(k.time_ns);
          std::uint64_t before = 0;
          rows(
              k.times.buckets,
              [&](std::pair<std::uint16_t, std::uint32_t>& bucket) {
                std::uint64_t index = bucket.first - before;
                s_.number(index);
                before += index;
                if constexpr (Stream::kReads) bucket.first = static_cast<std::uint16_t>(std::min<std::uint64_t>(before, 1023));
                small(bucket.second);
              },
              2);
        },
        8);
    rows(d.ops, [&](DigestOp& op) { text(op.name), integer(op.count), integer(op.self_ns); }, 3);
    flag(d.knows_findings);
    rows(
        d.findings,
        [&](DigestFinding& f) { text(f.id), text(f.finding), text(f.action), maybe(f.saves_ns), maybe(f.at_most_ns); }, 5);
  }

 private:
  void steps(Digest& d) {
    std::int64_t number = 0, end = d.start_ns;
    rows(
        d.steps,
        [&](DigestStep& step) {
          difference(step.number, number), difference(step.start_ns, end);
          end = step.start_ns;
          difference(step.end_ns, end);
          integer(step.busy_ns), integer(step.compute_ns), integer(step.comm_ns), integer(step.exposed_ns);
          for (std::int64_t& idle : step.idle_ns) integer(idle);
        },
        7 + kLaneIdles);
  }

  // Most collectives of a rank are of a few kinds: these are listed once.
  void collectives(Digest& d) {
    std::vector<DigestCollective> kinds;
    std::vector<std::uint64_t> kind_of(d.collectives.size());
    if constexpr (!Stream::kReads) {
      const auto key = [](const DigestCollective& c) {
        return std::tuple(c.bytes, c.source, c.destination, c.group, c.name, c.dtype, c.on_host);
      };
      std::map<decltype(key(d.collectives.front())), std::uint64_t> known;
      for (std::size_t i = 0; i < d.collectives.size(); ++i) {
        const auto [kind, is_new] = known.try_emplace(key(d.collectives[i]), kinds.size());
        if (is_new) kinds.push_back(d.collectives[i]);
        kind_of[i] = kind->second;
      }
    }
    rows(
        kinds,
        [&](DigestCollective& k) {
          maybe(k.bytes), maybe(k.source), maybe(k.destination);
          small(k.group), small(k.name), small(k.dtype), flag(k.on_host);
        },
        7);
    std::int64_t start = d.start_ns, sequence = 0, step = 0;
    std::size_t at = 0;
    rows(
        d.collectives,
        [&](DigestCollective& c) {
          if constexpr (Stream::kReads) {
            std::uint64_t index = 0;
            s_.number(index);
            if (index < kinds.size())
              c = kinds[static_cast<std::size_t>(index)];
            else
              wrong_ = true;
          } else {
            s_.number(kind_of[at++]);
          }
          difference(c.start_ns, start);
          std::int64_t end = c.start_ns;
          difference(c.end_ns, end);
          integer(c.exposed_ns);
          bool told = c.sequence.has_value();
          std::int64_t in_step = c.step;
          flag(told);
          if (told) {
            std::int64_t value = c.sequence.value_or(0);
            difference(value, sequence);
            c.sequence = value;
          }
          difference(in_step, step);
          if constexpr (Stream::kReads) {
            c.step = static_cast<std::uint32_t>(std::clamp<std::int64_t>(in_step, 0, UINT32_MAX));
          }
        },
        6);
  }

  void items(Digest& d) {
    std::uint32_t next = 0;  // collectives come in order
    rows(
        d.items,
        [&](LaneItem& item) {
          std::uint64_t head = static_cast<std::uint64_t>(item.kind) | (item.after_lane ? 8U : 0U) | (item.ahead ? 16U : 0U);
          s_.number(head);
          if constexpr (Stream::kReads) {
            item.kind = static_cast<LaneItemKind>(std::min<std::uint64_t>(head & 7, kLaneItemKinds - 1));
            item.after_lane = (head & 8) != 0;
            item.ahead = (head & 16) != 0;
          }
          small(item.host_ns);
          switch (item.kind) {
            case LaneItemKind::run:
              small(item.device_ns), small(item.late_launch_ns), small(item.late_rest_ns);
              small(item.kernels), small(item.kernel_ns), s_.bytes(item.work_hash);
              break;
            case LaneItemKind::collective: {
              std::uint64_t stream = item.stream;
              s_.number(stream);
              if constexpr (Stream::kReads) item.stream = static_cast<std::uint8_t>(std::min<std::uint64_t>(stream, 255));
              target(item, next);
              next = item.target + 1;
              lag(item);
              break;
            }
            case LaneItemKind::wait:
            case LaneItemKind::after: target(item, next); break;
            case LaneItemKind::sync: target(item, next), lag(item); break;
            case LaneItemKind::loader: small(item.device_ns); break;
            case LaneItemKind::pause: break;
          }
        },
        2);
  }

  void target(LaneItem& item, std::uint32_t next) {
    std::int64_t from = next, to = item.target == kNoCollective ? -1 : static_cast<std::int64_t>(item.target);
    difference(to, from);
    if constexpr (Stream::kReads) item.target = to < 0 || to >= kNoCollective ? kNoCollective : static_cast<std::uint32_t>(to);
  }
  void lag(LaneItem& item) {
    std::int64_t value = item.lag_ns;
    integer(value);
    if constexpr (Stream::kReads)
      item.lag_ns = static_cast<std::int32_t>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX));
  }

  void text(std::string& value) { s_.text(value); }
  void integer(std::int64_t& value) {
    std::uint64_t folded = fold_sign(value);
    s_.number(folded);
    value = unfold_sign(folded);
  }
  void small(std::uint32_t& value) {
    std::uint64_t wide = value;
    s_.number(wide);
    value = static_cast<std::uint32_t>(std::min<std::uint64_t>(wide, UINT32_MAX));
  }
  // From `before`, which becomes the value. Wraps around where the file means no good: the times are looked at afterwards.
  void difference(std::int64_t& value, std::int64_t& before) {
    std::uint64_t folded =
        fold_sign(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(before)));
    s_.number(folded);
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(unfold_sign(folded)));
    before = value;
  }
  void flag(bool& value) {
    std::uint64_t wide = value ? 1 : 0;
    s_.number(wide);
    value = wide != 0;
  }
  void maybe(std::optional<std::int64_t>& value) {
    bool known = value.has_value();
    flag(known);
    std::int64_t number = value.value_or(0);
    if (known) integer(number);
    if constexpr (Stream::kReads) value = known ? std::optional(number) : std::nullopt;
  }
  template <class Row, class Fields>
  void rows(std::vector<Row>& list, Fields fields, std::size_t least = 1) {
    s_.count(list, least);
    for (Row& row : list) {
      if (!good()) return;
      fields(row);
    }
  }

 public:
  bool good() const { return s_.good() && !wrong_; }

 private:
  Stream& s_;
  bool wrong_ = false;
};

std::uint64_t read_word(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kFrame; ++i) word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

void append_word(std::uint64_t word, std::string* out) {
  for (std::size_t i = 0; i < kFrame; ++i) *out += static_cast<char>(word >> (8 * i));
}

tl::unexpected<Error> damaged(const std::string& where, std::size_t at, std::string_view what) {
  return fail(ErrorCode::not_a_trace, "the digest is damaged: " + std::string(what), where + ", byte " + std::to_string(at),
              "make it again with ridge ranks --digest");
}

}  // namespace

bool is_digest(std::string_view first_bytes) { return first_bytes.starts_with(kFamily); }

void append_digest(const Digest& digest, std::string* out) {
  std::string content;
  DigestWriter writer(&content);
  DigestFields<DigestWriter>(&writer).all(const_cast<Digest&>(digest));  // a writer changes nothing
  *out += kDigestMagic;
  append_word(content.size(), out);
  *out += content;
  append_word(hash_text(content), out);
}

std::string_view unsound_part(const Digest& d) {
  constexpr std::int64_t kFurthest = std::int64_t{1} << 61;
  constexpr std::int64_t kLongest = std::int64_t{1} << 52;  // 52 days
  const auto near = [&](std::int64_t t) { return t >= -kFurthest && t <= kFurthest; };
  const auto inside = [&](std::int64_t t) { return near(t) && std::abs(t - d.start_ns) <= kLongest; };
  const auto length = [&](std::int64_t t) { return t >= 0 && t <= kLongest; };
  if (!near(d.start_ns) || !near(d.end_ns) || !near(d.base_time_ns.value_or(0))) return "times out of range";
  if (!d.collectives.empty() || !d.steps.empty() || !d.items.empty()) {
    if (!inside(d.end_ns)) return "a window of months";
  }
  if (d.world_size && (*d.world_size < 0 || *d.world_size > INT32_MAX)) return "the size of the world";
  if (d.rank && (*d.rank < 0 || *d.rank > INT32_MAX)) return "the rank";
  for (const DigestGroup& group : d.groups) {
    if (group.size && (*group.size < 0 || *group.size > INT32_MAX)) return "the size of a group";
  }
  for (const DigestStep& step : d.steps) {
    if (!inside(step.start_ns) || !inside(step.end_ns) || step.end_ns < step.start_ns) return "times of a step";
    if (!length(step.busy_ns) || !length(step.compute_ns) || step.comm_ns < 0 || !length(step.exposed_ns))
      return "times of a step";
  }
  for (const DigestCollective& c : d.collectives) {
    if (!inside(c.start_ns) || !inside(c.end_ns) || c.end_ns < c.start_ns) return "times of a collective";
    if (!length(c.exposed_ns) || (c.bytes && (*c.bytes < 0 || *c.bytes > kFurthest))) return "figures of a collective";
    if (c.group >= d.groups.size() || c.name >= d.names.size() || c.dtype >= d.names.size()) return "names of a collective";
    if (c.step >= std::max<std::size_t>(1, d.steps.size())) return "the step of a collective";
  }
  for (const LaneItem& item : d.items) {
    const bool needs =
        item.kind == LaneItemKind::collective || item.kind == LaneItemKind::wait || item.kind == LaneItemKind::after;
    if (item.target == kNoCollective ? needs : item.target >= d.collectives.size()) return "the collective of an item";
  }
  return {};
}

Result<std::vector<Digest>> read_digests(std::string_view bytes, const std::string& where) {
  std::vector<Digest> digests;
  for (std::size_t at = 0; at < bytes.size();) {
    std::string_view rest = bytes.substr(at);
    if (!is_digest(rest)) return damaged(where, at, "no digest begins here");
    if (!rest.starts_with(kDigestMagic)) return damaged(where, at, "another version of ridge made it");
    if (rest.size() < kDigestMagic.size() + kFrame) return damaged(where, at, "it ends early");
    rest.remove_prefix(kDigestMagic.size());
    const std::uint64_t size = read_word(rest);
    rest.remove_prefix(kFrame);
    if (rest.size() < kFrame || size > rest.size() - kFrame) return damaged(where, at, "it ends early");
    const std::string_view content = rest.substr(0, static_cast<std::size_t>(size));
    if (read_word(rest.substr(content.size())) != hash_text(content)) return damaged(where, at, "its hash does not match");
    DigestReader reader(content);
    DigestFields<DigestReader> fields(&reader);
    Digest& digest = digests.emplace_back();
    fields.all(digest);
    if (!fields.good() || !reader.at_end()) return damaged(where, at, "its content does not fit its length");
    if (const std::string_view part = unsound_part(digest); !part.empty()) return damaged(where, at, part);
    at += kDigestMagic.size() + kFrame + content.size() + kFrame;
  }
  return digests;
}

}  // namespace ridge
