// Two steps: which launch of the capture each replayed kernel is (by OpFinder), then copies of those launches and of all that
// is around them, parents first.
#include "model/capture_loan.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/replay_ops.h"
#include "trace/borrowed_calls.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::uint32_t kNoIndex = BorrowedCalls::kNone;

// Copies events from one trace to the end of another, onto one track.
class EventCopier {
 public:
  EventCopier(const Trace& from, Trace* to, TrackId track) : from_(from), to_(*to->storage), track_(track) {}

  void add(EventId event) {
    const FormId from_form = from_.events.form(event);
    const FormId form = form_of(from_form);
    const ArgSchema& schema = from_.forms.schema(from_form);
    run_.reserve(schema.words);
    const std::size_t first = run_.words.size();
    const std::uint32_t* words = from_.events.words(event);
    for (const Slot& slot : schema.slots) {
      const std::uint32_t count = words_of(slot.type);
      const bool text = slot.type == ArgType::text || slot.type == ArgType::json || slot.type == ArgType::big_integer;
      for (std::uint32_t w = 0; w < count; ++w) {
        const std::uint32_t word = words[slot.word + w];
        run_.words.push_back(text ? text_of(StringId{word}).value : word);
      }
    }
    run_.add(from_.events.ts_ns(event), from_.events.dur_ns(event).value_or(kUnknownDuration),
             text_of(from_.events.name(event)), form, first);
  }
  // False when the ids of events are used up.
  [[nodiscard]] bool finish() { return to_.events.append(run_); }

 private:
  StringId text_of(StringId id) {
    const auto [it, is_new] = texts_.try_emplace(id);
    if (is_new) it->second = to_.strings.intern(from_.text(id));
    return it->second;
  }
  FormId form_of(FormId id) {
    const auto [it, is_new] = forms_.try_emplace(id);
    if (!is_new) return it->second;
    const Kind& kind = from_.forms.kind(id);
    std::vector<Slot> slots = from_.forms.schema(id).slots;
    for (Slot& slot : slots) {
      slot.key = text_of(slot.key);
      slot.fixed = text_of(slot.fixed);
    }
    const Form form{to_.forms.intern_kind(text_of(kind.ph), text_of(kind.cat), from_.text(kind.ph), from_.text(kind.cat)),
                    track_, to_.forms.intern_schema(slots)};
    return it->second = to_.forms.intern_form(form);
  }

  const Trace& from_;
  TraceStorage& to_;
  TrackId track_;
  EventRun run_;
  std::unordered_map<StringId, StringId> texts_;
  std::unordered_map<FormId, FormId> forms_;
};

struct GraphLoan {
  FoundOps found;
  std::uint32_t source = 0;
};

class Lender {
 public:
  Lender(const Model& capture, const Trace& replay)
      : capture_(capture),
        replay_(replay),
        finder_(capture.trace(), capture.tree(), capture.links(), Trust::given),
        used_(capture.tree().size(), false) {}

  std::unique_ptr<BorrowedCalls> find() {
    auto out = std::make_unique<BorrowedCalls>();
    out->path = capture_.trace().path;
    out->captured = finder_.captures();
    out->launched = finder_.launches();
    const Model model(replay_);
    const GraphReplays& replays = model.graph_replays();
    out->graphs = replays.graphs.size();
    std::vector<GraphLoan> loans(replays.graphs.size());
    std::vector<bool> sought(loans.size());
    const std::span<const EventId> work = replay_.of(EventClass::device_work);
    for (const GraphReplay& each : replays.replays) {
      const ReplayedGraph& graph = replays.graphs[each.graph];
      GraphLoan& loan = loans[each.graph];
      if (!sought[each.graph]) {
        sought[each.graph] = true;
        if (!track_) track_ = replay_.track(model.tree().event[each.launch.value]);
        loan = look_for(model, graph, each.launch, out.get());
      }
      const auto rows = replays.rows_of(each);
      out->replayed += rows.size();
      out->disputed += loan.found.disputed;
      out->matched += loan.found.matched;
      if (loan.found.source == OpSource::none) continue;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const NodeId launch = loan.found.launches[i], op = loan.found.ops[i];
        if (launch != kNoNode)
          out->loans.push_back({work[rows[i]], launch.value, op == kNoNode ? kNoIndex : op.value, loan.source});
      }
    }
    std::sort(out->loans.begin(), out->loans.end(), [](const auto& a, const auto& b) { return a.work < b.work; });
    return out;
  }

  // Replaces nodes of the capture's tree by those of the copy.
  void copy(Trace* to, BorrowedCalls* out) {
    out->first_event = to->events.size();
    for (const BorrowedCalls::Loan& loan : out->loans) {
      use(NodeId{loan.launch});
      if (loan.op != kNoIndex) use(NodeId{loan.op});
    }
    const CallTree& tree = capture_.tree();
    use_ops_below();
    EventCopier copier(capture_.trace(), to, track_.value_or(TrackId{}));
    std::vector<std::uint32_t> index(tree.size(), kNoIndex);  // of each node's copy, or of the nearest one around it
    for (std::uint32_t n = 0; n < tree.size(); ++n) {
      const NodeId parent = tree.parent[n];
      const std::uint32_t around = parent == kNoNode ? kNoIndex : index[parent.value];
      index[n] = used_[n] ? static_cast<std::uint32_t>(out->nodes.size()) : around;
      if (!used_[n]) continue;
      out->nodes.push_back({EventId{out->first_event + index[n]}, around});
      copier.add(tree.event[n]);
    }
    if (!copier.finish()) {
      out->nodes.clear();
      out->loans.clear();
    }
    for (BorrowedCalls::Loan& loan : out->loans) {
      loan.launch = index[loan.launch];
      if (loan.op != kNoIndex) loan.op = index[loan.op];
    }
  }

 private:
  GraphLoan look_for(const Model& model, const ReplayedGraph& graph, NodeId launch, BorrowedCalls* out) const {
    GraphLoan loan;
    loan.found = finder_.find(signs_of(replay_, graph.nodes, graph.grids), graph.id.has_value(),
                              batch_of(replay_, model.tree(), launch));
    const auto own = static_cast<std::size_t>(
        std::count_if(graph.launches.begin(), graph.launches.end(), [](NodeId n) { return n != kNoNode; }));
    if (own > loan.found.matched - loan.found.disputed) {
      loan.found = {};
      out->own += own * static_cast<std::size_t>(graph.replays);
    }
    if (loan.found.source == OpSource::none) return loan;
    const auto known = std::find(out->sources.begin(), out->sources.end(), loan.found.name);
    loan.source = static_cast<std::uint32_t>(known - out->sources.begin());
    if (known == out->sources.end()) out->sources.push_back(loan.found.name);
    return loan;
  }

  // What an op called tells more of it than its arguments: the tensors that it made.
  void use_ops_below() {
    const CallTree& tree = capture_.tree();
    std::vector<bool> below(tree.size());
    for (std::uint32_t n = 0; n < tree.size(); ++n) {
      const NodeId parent = tree.parent[n];
      if (parent == kNoNode) continue;
      below[n] = below[parent.value] || (used_[parent.value] && tree.class_of(parent) == EventClass::op);
      if (below[n] && tree.event_class[n] == EventClass::op) used_[n] = true;
    }
  }

  void use(NodeId node) {
    for (NodeId n = node; n != kNoNode && !used_[n.value]; n = capture_.tree().parent[n.value]) used_[n.value] = true;
  }

  const Model& capture_;
  const Trace& replay_;
  OpFinder finder_;
  std::vector<bool> used_;
  std::optional<TrackId> track_;  // of the first call that replays a graph
};

// What was lost of a file as it was read: the first of the reasons, in words.
std::string damage_of(const Diagnostics& found) {
  for (std::size_t i = 0; i < kProblems; ++i) {
    const auto problem = static_cast<Problem>(i);
    const ProblemRow& row = row_of(problem);
    if (found[problem].count > 0 && row.severity != Severity::info) return std::string(row.message);
  }
  return {};
}

}  // namespace

void lend_capture(const Model& capture, Trace* replay) {
  Lender lender(capture, *replay);
  std::unique_ptr<BorrowedCalls> found = lender.find();
  found->damage = damage_of(capture.trace().diagnostics);
  lender.copy(replay, found.get());
  replay->borrowed = std::move(found);
}

}  // namespace ridge
