// One walk. Tensors stand by size, so that looking one up takes a bounded number of steps.
#include "predict/fusion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace ridge {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
// Depths in quarters: an op that stays is a whole step, a sum that must be done first a quarter.
constexpr std::int64_t kStays = 4, kWhole = 1;
constexpr std::size_t kLookedAt = 64;               // tensors of about one size, the last first
constexpr double kBlock = 4'096, kRounded = 0.002;  // elements: to what a grid is rounded up
constexpr int kBucketBits = 52 - 3;                 // of a double's bits: eight of an octave
constexpr double kLeastTwice = 65'536;              // elements: a smaller tensor stays in the cache
constexpr double kOfOwnSize = 0.25;                 // of what an op goes over: a tensor that joins it to others

class Fusing {
 public:
  explicit Fusing(const Flow& flow) : flow_(flow) {}

  Fused fused() {
    out_.group_of.assign(flow_.ops.size(), Fused::kNoGroup);
    out_.part_of.assign(flow_.ops.size(), Fused::kNoGroup);
    for (std::uint32_t i = 0; i < flow_.ops.size(); ++i) {
      const FlowOp& op = flow_.ops[i];
      if (i > 0 && op.iteration != flow_.ops[i - 1].iteration) end_iteration();
      const FlowCall& call = flow_.calls[op.call];
      if (call.sort == FlowSort::view) {
        view(call);
      } else if (call.sort == FlowSort::stays) {
        stay(call, op.thread);
      } else {
        generate(call, i);
      }
    }
    end_iteration();
    for (std::uint32_t i = 0; i < flow_.ops.size(); ++i) {
      if (out_.part_of[i] != Fused::kNoGroup) out_.part_of[i] = part(i);
    }
    return std::move(out_);
  }

 private:
  struct Value {
    FlowTensor tensor;
    std::int64_t depth = 0;
    std::uint32_t root = kNone;   // what it is a view of
    std::uint32_t group = kNone;  // that makes it; kNone: a library does, or it comes from before
    std::uint32_t uses = 0;
    std::uint32_t taken_by = 0;  // the lookup that found it last
    bool viewed = false;         // what reads it may read its view
    bool written = false;
  };

  static std::int64_t bucket(double elements) {
    return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(std::max(1.0, elements)) >> kBucketBits);
  }
  static bool about(double a, double b) { return std::abs(a - b) <= std::max(kBlock, kRounded * std::max(a, b)); }
  static bool fits(const FlowTensor& a, const FlowTensor& b) {
    if (a.shape == 0 || b.shape == 0) return about(a.elements, b.elements);
    return a.elements == b.elements && (a.width == b.width || a.width == 0 || b.width == 0);
  }

  std::uint32_t make(const FlowTensor& tensor, std::int64_t depth, std::uint32_t group, std::uint32_t root = kNone) {
    const auto id = static_cast<std::uint32_t>(now_.values.size());
    now_.values.push_back({.tensor = tensor,
                           .depth = depth,
                           .root = root,
                           .group = group,
                           .uses = 0,
                           .taken_by = 0,
                           .viewed = false,
                           .written = false});
    now_.by_size[bucket(tensor.elements)].push_back(id);
    return id;
  }

  // The best of those that were made last and that this lookup has not taken; kNone when there is none.
  std::uint32_t find(const FlowTensor& tensor) const {
    constexpr int kBestScore = 3;
    std::uint32_t best = kNone;
    int most = -1;
    const auto look = [&](std::int64_t at) {
      const auto found = now_.by_size.find(at);
      if (found == now_.by_size.end()) return;
      const std::vector<std::uint32_t>& ids = found->second;
      for (std::size_t back = 0; back < std::min(kLookedAt, ids.size()); ++back) {
        const std::uint32_t id = ids[ids.size() - 1 - back];
        const Value& value = now_.values[id];
        if (value.taken_by == lookups_ || !fits(value.tensor, tensor)) continue;
        const int score = (value.tensor.shape == tensor.shape ? 2 : 0) + (value.uses == 0 && !value.viewed ? 1 : 0);
        if (score > most || (score == most && id > best)) best = id, most = score;
        if (score == kBestScore) return;  // those before it were made earlier
      }
    };
    const std::int64_t at = bucket(tensor.elements);
    look(at);
    if (tensor.shape == 0 || now_.grids) {
      for (std::int64_t other = bucket(tensor.elements - kBlock); other <= bucket(tensor.elements + kBlock); ++other) {
        if (other != at) look(other);
      }
    }
    return best;
  }

  std::uint32_t root_of(std::uint32_t id) const { return now_.values[id].root == kNone ? id : now_.values[id].root; }

  void view(const FlowCall& call) {
    if (call.reads.empty() || call.makes.empty()) return;
    ++lookups_;
    std::uint32_t source = find(call.reads.front());
    if (source == kNone) source = make(call.reads.front(), 0, kNone);
    if (call.makes.size() == 1 && call.makes.front().shape == now_.values[source].tensor.shape) return;
    now_.values[source].viewed = true;
    // The last result on top, so that those that are read first are found last.
    for (auto result = call.makes.rbegin(); result != call.makes.rend(); ++result) {
      const Value of = now_.values[source];
      make({result->elements, of.tensor.width, result->shape, false}, of.depth, of.group, root_of(source));
    }
  }

  // What was made last, where nothing has read it yet and its size, or the one that is asked for, is a guess.
  std::uint32_t just_made(bool guessed) const {
    if (now_.values.empty()) return kNone;
    const Value& last = now_.values.back();
    const bool may = last.group != kNone && last.uses == 0 && (guessed || last.tensor.guessed);
    return may ? static_cast<std::uint32_t>(now_.values.size() - 1) : kNone;
  }

  std::vector<std::uint32_t> inputs(const FlowCall& call, std::int64_t floor) {
    std::vector<std::uint32_t> out;
    ++lookups_;
    for (const FlowTensor& tensor : call.reads) {
      std::uint32_t id = out.empty() && tensor.guessed ? just_made(true) : find(tensor);
      if (tensor.shape == 0 && out.empty() && (id == kNone || now_.values[id].uses > 0)) {
        if (const std::uint32_t last = just_made(tensor.guessed); last != kNone) id = last;
      }
      // By its size alone an operand is not known to be what was read before at another depth: a product may have made it.
      const bool older = id != kNone && tensor.shape == 0 && now_.values[id].uses > 0 && now_.values[id].depth < floor;
      if (id == kNone || older) id = make(tensor, 0, kNone);
      now_.values[id].taken_by = lookups_;
      out.push_back(id);
    }
    return out;
  }

  void write(std::uint32_t id) {
    Value& root = now_.values[root_of(id)];
    if (root.group == kNone || root.written) return;
    root.written = true;
    out_.groups[root.group].bytes_written += root.tensor.bytes();
  }

  void stay(const FlowCall& call, std::uint32_t thread) {
    if (!call.known) {
      // It reads what was made last; what comes behind it needs it.
      if (!now_.values.empty() && now_.values.back().uses == 0) {
        write(static_cast<std::uint32_t>(now_.values.size() - 1));
        ++now_.values.back().uses;
      }
      now_.floors[thread] += kStays;
      return;
    }
    std::int64_t depth = 0;
    for (const std::uint32_t id : inputs(call, 0)) {
      depth = std::max(depth, now_.values[id].depth);
      write(id);
      ++now_.values[id].uses;
    }
    for (const FlowTensor& tensor : call.makes) make(tensor, depth + kStays, kNone);
  }

  // The first op of a part.
  std::uint32_t part(std::uint32_t i) {
    while (out_.part_of[i] != i) i = out_.part_of[i] = out_.part_of[out_.part_of[i]];
    return i;
  }

  // Ops of a group that go over one tensor are one part; small ones that many read (a scale, a mask of rows) join nothing.
  void join(std::uint32_t i, std::uint32_t tensor, double elements, double of_op) {
    if (elements < kOfOwnSize * of_op) return;
    const auto [first, fresh] = now_.touched.try_emplace((static_cast<std::uint64_t>(out_.group_of[i]) << 32) | tensor, i);
    if (fresh) return;
    const std::uint32_t a = part(first->second), b = part(i);
    out_.part_of[std::max(a, b)] = std::min(a, b);
  }

  // Of what comes from before (parameters) each is cast once: a second one of that shape is another.
  static bool is_cast(const FlowCall& call) {
    if (call.reads.size() != 1 || call.makes.size() != 1) return false;
    const FlowTensor &from = call.reads.front(), &to = call.makes.front();
    return from.shape != 0 && from.shape == to.shape && from.width != to.width && from.width > 0 && to.width > 0;
  }
  bool is_given(std::uint32_t id) const {
    const Value& value = now_.values[id];
    return value.group == kNone && value.root == kNone && value.depth == 0;
  }

  void generate(const FlowCall& call, std::uint32_t i) {
    const std::uint32_t thread = flow_.ops[i].thread;
    std::int64_t depth = now_.floors[thread];
    now_.grids = now_.grids || (!call.makes.empty() && call.makes.front().shape == 0);
    std::vector<std::uint32_t> ids = inputs(call, depth);
    if (is_cast(call) && is_given(ids.front()) && now_.values[ids.front()].uses > 0)
      ids.front() = make(call.reads.front(), 0, kNone);
    for (const std::uint32_t id : ids) depth = std::max(depth, now_.values[id].depth);
    const auto [at, fresh] = now_.of_depth.try_emplace({thread, depth}, static_cast<std::uint32_t>(out_.groups.size()));
    if (fresh) out_.groups.emplace_back();
    const std::uint32_t group = at->second;
    out_.group_of[i] = group;
    out_.part_of[i] = i;
    double of_op = 0;
    for (const auto* tensors : {&call.reads, &call.makes}) {
      for (const FlowTensor& each : *tensors) of_op = std::max(of_op, each.elements);
    }
    for (const std::uint32_t id : ids) {
      Value& value = now_.values[id];
      const std::uint32_t root = root_of(id);
      const bool inside = now_.values[root].group == group && value.depth == depth;
      const bool is_part = value.tensor.elements != now_.values[root].tensor.elements;
      if (!inside && (now_.floors[thread] > 0 || value.tensor.guessed)) out_.groups[group].sure = false;
      if (!inside || call.twice) {
        const double bytes = std::min(value.tensor.bytes(), now_.values[root].tensor.bytes());
        const bool again = call.twice && value.tensor.elements > kLeastTwice;
        if (now_.read.insert((static_cast<std::uint64_t>(group) << 32) | (is_part ? id : root)).second)
          out_.groups[group].bytes_read += again ? 2 * bytes : bytes;
        write(id);
      }
      ++value.uses;
      join(i, root, value.tensor.elements, of_op);
    }
    for (const FlowTensor& tensor : call.makes) {
      const std::uint32_t id = make(tensor, depth + (call.whole ? kWhole : 0), group);
      join(i, id, tensor.elements, of_op);
    }
  }

  // What nothing has read is a result.
  void end_iteration() {
    for (std::uint32_t id = 0; id < now_.values.size(); ++id) {
      if (now_.values[id].uses > 0) ++now_.values[root_of(id)].uses;
    }
    for (std::uint32_t id = 0; id < now_.values.size(); ++id) {
      if (now_.values[id].root == kNone && now_.values[id].uses == 0) write(id);
    }
    now_ = Iteration();  // emptying tables would take as long as what they once held
  }

  struct Iteration {
    std::vector<Value> values;
    std::unordered_map<std::int64_t, std::vector<std::uint32_t>> by_size;
    std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> of_depth;  // group by thread and depth
    std::map<std::uint32_t, std::int64_t> floors;                              // by thread: what is not known to be less deep
    std::unordered_set<std::uint64_t> read;                                    // by a group
    std::unordered_map<std::uint64_t, std::uint32_t> touched;                  // by a group, and by which op first
    bool grids = false;                                                        // some sizes are told by grids
  };

  const Flow& flow_;
  Fused out_;
  Iteration now_;
  std::uint32_t lookups_ = 0;  // ops and views that looked for what they read
};

}  // namespace

Fused fuse(const Flow& flow) { return Fusing(flow).fused(); }

}  // namespace ridge
