// Looks for a graph's sequence: in eager runs at the places of its rarest names, in captures one by one. Bounded against
// hostile traces.
#include "model/replay_ops.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "model/graph_alignment.h"

namespace ridge {
namespace {

// What a hostile trace may cost: sequences that fit and are compared with each other, places that are tried for one graph, and
// alignments and what they go through for all graphs.
constexpr std::size_t kMostCompared = 64, kMostPlaces = 1024, kMostAligned = 24;
constexpr std::size_t kMostAlignments = 4096;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 26;
constexpr std::size_t kMostSeeds = 16, kMostVotes = std::size_t{1} << 16;

constexpr std::size_t kLeastNamed = 2;  // one name says nothing about who launched it
constexpr std::size_t kLeastAlike = 3;  // products, copies and sets where the capture has them, in a graph that has others too

// A stretch of a sequence that may be the graph.
struct SequenceFit {
  std::span<const LaunchItem> items;
  GraphAlignment alignment;
  std::size_t sequence = 0;
};

// How many nodes may be without a place.
std::size_t most_missing(std::size_t nodes, Trust trust) {
  return std::max<std::size_t>(1, nodes / (trust == Trust::given ? 2 : 5));
}

bool is_proof(const SequenceFit& fit, bool ran, bool told_apart, Trust trust) {
  const GraphAlignment& found = fit.alignment;
  const std::size_t nodes = found.place.size();
  if (nodes - (found.matched - found.moved) > most_missing(nodes, trust)) return false;
  if (ran) return found.named >= kLeastNamed && found.skipped <= most_missing(nodes, trust);
  if (found.named > 0) return true;
  const bool whole = found.whole() && fit.items.size() == nodes;
  // An equal count alone proves nothing; neither does a row of equals.
  const bool pattern = found.alike >= kLeastAlike && found.alike < nodes && (whole || found.alike * 8 >= nodes);
  return pattern || (whole && told_apart);
}

std::optional<std::int64_t> first_number(std::string_view text) {
  const std::size_t at = text.find_first_of("0123456789");
  if (at == text.npos) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

// The innermost annotation around a node that names a number and is the user's.
std::string_view numbered_annotation(const Trace& trace, const CallTree& tree, NodeId node) {
  for (NodeId n = node; n != kNoNode; n = tree.parent[n.value]) {
    if (tree.class_of(n) != EventClass::annotation) continue;
    const std::string_view name = trace.text(trace.events.name(tree.event[n.value]));
    if (name.starts_with("ProfilerStep#") || name.starts_with("## Call ")) continue;
    if (first_number(name)) return name;
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> batch_of(const Trace& trace, const CallTree& tree, NodeId node) {
  return first_number(numbered_annotation(trace, tree, node));
}

struct OpFinder::State {
  const Trace& trace;
  const CallTree& tree;
  Trust trust;
  std::vector<LaunchSequence> sequences;  // captures, then eager runs
  std::size_t captures = 0;
  // Of each eager run, where each name stands.
  std::vector<std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>> places;
  mutable std::size_t alignments = 0;
  mutable std::uint64_t steps = 0;

  bool may_align(std::size_t nodes, std::size_t items) const {
    if (alignments >= kMostAlignments || steps > kMostSteps) return false;
    ++alignments;
    steps += nodes + items;
    return true;
  }

  // Keeps the best, and those as good as it.
  static void keep(SequenceFit fit, std::vector<SequenceFit>* best) {
    if (!best->empty() && fit.alignment.matched > best->front().alignment.matched) best->clear();
    if (!best->empty() && fit.alignment.matched < best->front().alignment.matched) return;
    if (best->size() < kMostCompared) best->push_back(std::move(fit));
  }

  void keep_exact(std::span<const LaunchItem> items, std::size_t sequence, std::vector<SequenceFit>* best) const;
  std::vector<std::int64_t> offsets(std::span<const LaunchSign> nodes, std::size_t run) const;
  void search_run(std::span<const LaunchSign> nodes, std::size_t run, std::vector<SequenceFit>* best) const;
  std::vector<SequenceFit> search_runs(std::span<const LaunchSign> nodes) const;
  std::vector<SequenceFit> search_captures(std::span<const LaunchSign> nodes, bool told_apart) const;
  void prefer_batch(std::int64_t batch, std::vector<SequenceFit>* fits) const;
  FoundOps merge(std::vector<SequenceFit> fits, std::optional<std::int64_t> batch) const;
  std::string name_of_sequence(const SequenceFit& fit) const;
};

void OpFinder::State::keep_exact(std::span<const LaunchItem> items, std::size_t sequence,
                                 std::vector<SequenceFit>* best) const {
  SequenceFit fit{items, {}, sequence};
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    fit.alignment.place.push_back(i);
    fit.alignment.named += items[i].sign.kind != NodeKind::short_triton;
  }
  fit.alignment.matched = items.size();
  keep(std::move(fit), best);
}

// Where in a run the graph may begin: what most of its rarest names say first.
std::vector<std::int64_t> OpFinder::State::offsets(std::span<const LaunchSign> nodes, std::size_t run) const {
  const auto& where = places[run];
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> of_nodes;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (where.contains(nodes[i].name) && nodes[i].kind != NodeKind::short_triton) of_nodes[nodes[i].name].push_back(i);
  }
  std::vector<std::pair<std::size_t, std::uint64_t>> seeds;  // how many pairs it makes, the name
  for (const auto& [name, at] : of_nodes) seeds.emplace_back(at.size() * where.at(name).size(), name);
  std::sort(seeds.begin(), seeds.end());
  std::unordered_map<std::int64_t, std::uint32_t> votes;
  std::size_t cast = 0;
  for (std::size_t s = 0; s < seeds.size() && s < kMostSeeds; ++s) {
    if (cast + seeds[s].first > kMostVotes) break;
    cast += seeds[s].first;
    for (const std::uint32_t i : of_nodes[seeds[s].second]) {
      for (const std::uint32_t place : where.at(seeds[s].second)) ++votes[std::int64_t{place} - i];
    }
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> order;  // (fewest votes last, offset)
  for (const auto& [offset, count] : votes) order.emplace_back(-std::int64_t{count}, offset);
  std::sort(order.begin(), order.end());
  std::vector<std::int64_t> found;
  for (const auto& [count, offset] : order) found.push_back(offset);
  return found;
}

void OpFinder::State::search_run(std::span<const LaunchSign> nodes, std::size_t run, std::vector<SequenceFit>* best) const {
  const std::size_t sequence = captures + run;
  const std::span<const LaunchItem> items = sequences[sequence].items;
  const auto size = static_cast<std::int64_t>(items.size()), length = static_cast<std::int64_t>(nodes.size());
  std::vector<std::int64_t> at = offsets(nodes, run);
  if (at.size() > kMostPlaces) at.resize(kMostPlaces);
  bool exact = false;
  for (const std::int64_t offset : at) {
    if (offset < 0 || offset + length > size) continue;
    const auto stretch = items.subspan(static_cast<std::size_t>(offset), nodes.size());
    if (!is_exact(nodes, stretch, true)) continue;
    keep_exact(stretch, sequence, best);
    exact = true;
  }
  if (exact) return;
  const std::int64_t slack = std::max<std::int64_t>(8, length / 8);
  std::vector<std::int64_t> tried;
  for (const std::int64_t offset : at) {
    if (tried.size() >= kMostAligned) break;
    const auto near = [&](std::int64_t other) { return std::abs(other - offset) <= slack / 2; };
    if (std::any_of(tried.begin(), tried.end(), near)) continue;
    tried.push_back(offset);
    const std::int64_t from = std::max<std::int64_t>(0, offset - slack), to = std::min(size, offset + length + slack);
    if (from >= to) continue;
    const auto stretch = items.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
    const std::size_t bound = most_matches(nodes, stretch);
    if (bound + most_missing(nodes.size(), trust) < nodes.size()) continue;
    if (!best->empty() && bound < best->front().alignment.matched) continue;
    if (!may_align(nodes.size(), stretch.size())) return;
    SequenceFit fit{stretch, align_graph(nodes, stretch, true), sequence};
    if (is_proof(fit, true, false, trust)) keep(std::move(fit), best);
  }
}

std::vector<SequenceFit> OpFinder::State::search_runs(std::span<const LaunchSign> nodes) const {
  std::vector<SequenceFit> best;
  const auto tells = [](const LaunchSign& sign) { return sign.kind != NodeKind::short_triton; };
  if (static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), tells)) < kLeastNamed) return best;
  for (std::size_t run = 0; run < places.size(); ++run) search_run(nodes, run, &best);
  return best;
}

std::vector<SequenceFit> OpFinder::State::search_captures(std::span<const LaunchSign> nodes, bool told_apart) const {
  std::vector<SequenceFit> best;
  for (std::size_t c = 0; c < captures; ++c) {
    const std::span<const LaunchItem> items = sequences[c].items;
    const std::size_t bound = std::min(items.size(), nodes.size());
    if (bound + most_missing(nodes.size(), trust) < nodes.size()) continue;
    if (!best.empty() && bound < best.front().alignment.matched) continue;
    if (is_exact(nodes, items, false)) {
      keep_exact(items, c, &best);
      continue;
    }
    const std::size_t likely = most_matches(nodes, items);
    if (likely + most_missing(nodes.size(), trust) < nodes.size()) continue;
    if (!best.empty() && likely < best.front().alignment.matched) continue;
    if (!may_align(nodes.size(), items.size())) break;
    SequenceFit fit{items, align_graph(nodes, items, false), c};
    if (is_proof(fit, false, told_apart, trust)) keep(std::move(fit), &best);
  }
  return best;
}

// A server captures its graph once per batch size and pads a batch to the next one.
void OpFinder::State::prefer_batch(std::int64_t batch, std::vector<SequenceFit>* fits) const {
  const auto size_of = [&](const SequenceFit& fit) { return batch_of(trace, tree, fit.items.front().launch); };
  std::optional<std::int64_t> nearest;
  for (const SequenceFit& fit : *fits) {
    const auto size = size_of(fit);
    if (!size) return;
    if (*size >= batch && (!nearest || *size < *nearest)) nearest = size;
  }
  if (nearest) std::erase_if(*fits, [&](const SequenceFit& fit) { return size_of(fit) != nearest; });
}

std::string OpFinder::State::name_of_sequence(const SequenceFit& fit) const {
  if (fit.sequence >= captures) return "eager run";
  const std::string_view named = numbered_annotation(trace, tree, fit.items.front().launch);
  if (!named.empty()) return std::string(named);
  return captures == 1 ? "the capture" : "capture " + std::to_string(fit.sequence + 1) + " of " + std::to_string(captures);
}

FoundOps OpFinder::State::merge(std::vector<SequenceFit> fits, std::optional<std::int64_t> batch) const {
  FoundOps out;
  if (fits.empty()) return out;
  const auto item_at = [](const SequenceFit& fit, std::size_t node) -> const LaunchItem* {
    const std::uint32_t at = fit.alignment.place[node];
    return at == GraphAlignment::kNowhere ? nullptr : &fit.items[at];
  };
  const auto disputed = [&](std::size_t node) {
    const LaunchItem* first = item_at(fits.front(), node);
    return std::any_of(fits.begin() + 1, fits.end(), [&](const SequenceFit& fit) {
      const LaunchItem* other = item_at(fit, node);
      return (other == nullptr) != (first == nullptr) || (other != nullptr && other->call != first->call);
    });
  };
  const std::size_t nodes = fits.front().alignment.place.size();
  bool agreed = true;
  for (std::size_t i = 0; i < nodes && agreed; ++i) agreed = !disputed(i);
  if (!agreed && batch) prefer_batch(*batch, &fits);
  const SequenceFit& best = fits.front();
  out.source = best.sequence < captures ? OpSource::capture : OpSource::eager_run;
  out.name = name_of_sequence(best);
  out.launches.assign(nodes, kNoNode);
  out.ops.assign(nodes, kNoNode);
  for (std::size_t i = 0; i < nodes; ++i) {
    const LaunchItem* item = item_at(best, i);
    if (item == nullptr) continue;
    ++out.matched;
    if (disputed(i)) {
      ++out.disputed;
      continue;
    }
    out.launches[i] = item->launch;
    out.ops[i] = item->op;
  }
  const auto known = [](NodeId n) { return n != kNoNode; };
  if (std::none_of(out.launches.begin(), out.launches.end(), known)) out.source = OpSource::none;
  return out;
}

OpFinder::OpFinder(const Trace& trace, const CallTree& tree, const LaunchLinks& links, Trust trust)
    : state_(new State{.trace = trace, .tree = tree, .trust = trust, .sequences = ridge::captures(trace, tree), .places = {}}) {
  State& s = *state_;
  s.captures = s.sequences.size();
  for (LaunchSequence& run : eager_runs(trace, tree, links)) {
    auto& places = s.places.emplace_back();
    for (std::uint32_t i = 0; i < run.items.size(); ++i) places[run.items[i].sign.name].push_back(i);
    s.sequences.push_back(std::move(run));
  }
}
OpFinder::~OpFinder() = default;

FoundOps OpFinder::find(std::span<const LaunchSign> nodes, bool told_apart, std::optional<std::int64_t> batch) const {
  FoundOps ran = state_->merge(state_->search_runs(nodes), batch);
  if (ran.matched == nodes.size() && ran.disputed == 0) return ran;
  FoundOps captured = state_->merge(state_->search_captures(nodes, told_apart), batch);
  const auto worth = [](const FoundOps& found) { return std::pair(found.matched - found.disputed, found.matched); };
  return worth(captured) > worth(ran) ? captured : ran;
}

std::size_t OpFinder::captures() const { return state_->captures; }

std::uint64_t OpFinder::launches() const {
  std::uint64_t sum = 0;
  for (const LaunchSequence& sequence : state_->sequences) sum += sequence.items.size();
  return sum;
}

void recover_ops(const Trace& trace, const CallTree& tree, const LaunchLinks& links, GraphReplays* replays) {
  const OpFinder finder(trace, tree, links, Trust::coincidence);
  std::vector<bool> sought(replays->graphs.size());
  for (const GraphReplay& replay : replays->replays) {
    ReplayedGraph& graph = replays->graphs[replay.graph];
    if (graph.source != OpSource::none || sought[replay.graph]) continue;
    sought[replay.graph] = true;
    FoundOps found =
        finder.find(signs_of(trace, graph.nodes, graph.grids), graph.id.has_value(), batch_of(trace, tree, replay.launch));
    if (found.source == OpSource::none) continue;
    graph.ops = std::move(found.ops);
    graph.launches = std::move(found.launches);
    graph.source = found.source;
    graph.from = std::move(found.name);
  }
}

}  // namespace ridge
