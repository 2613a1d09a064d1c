// Writer and reader of the same layout, field by field: one function serves both, so that they cannot differ.
#include "job/digest_file.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/hash.h"
#include "job/digest_bytes.h"
#include "job/sound_digest.h"

namespace ridge {
namespace {

// A version that is not known is told apart from what is no digest.
constexpr std::string_view kFamily = kDigestMagic.substr(0, 7);
constexpr std::size_t kFrame = 8;  // bytes of the length, and of the hash

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
