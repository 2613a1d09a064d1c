// Decides by name, once per text, what is a phase; then one pass over the tree nests them and attaches data marks.
#include "model/compile_phases.h"

#include <unordered_map>
#include <unordered_set>

#include "model/autotune.h"
#include "model/name_flags.h"

namespace ridge {
namespace {

constexpr std::string_view kTimedPhase = " (dynamo_timed)";
constexpr std::string_view kData = "_data: ";

// "<phase>_data: k=v, k=v": the mark that tells about the phase around it.
struct DataMark {
  std::string_view phase;
  std::string_view fields;

  std::string_view field(std::string_view key) const {
    for (std::size_t at = fields.find(key); at != fields.npos; at = fields.find(key, at + 1)) {
      const bool starts = at == 0 || fields[at - 1] == ' ';
      const std::size_t value = at + key.size();
      if (starts && value < fields.size() && fields[value] == '=') {
        return fields.substr(value + 1, fields.find(',', value) - value - 1);
      }
    }
    return {};
  }
};

bool parse_mark(std::string_view name, DataMark* mark) {
  const std::size_t at = name.find(kData);
  if (at == name.npos) return false;
  *mark = {name.substr(0, at), name.substr(at + kData.size())};
  return true;
}

// The names of phases, found from the texts of the trace alone.
class PhaseNames {
 public:
  explicit PhaseNames(const Trace& trace) {
    for (std::size_t i = 0; i < trace.strings.size(); ++i) {
      const std::string_view text = trace.text(StringId{i});
      DataMark mark;
      if (text.ends_with(kTimedPhase)) {
        bare_.insert(text.substr(0, text.size() - kTimedPhase.size()));
      } else if (parse_mark(text, &mark) && !mark.field("compile_id").empty()) {
        bare_.insert(mark.phase);
        if (const std::string_view key = mark.field("fn_name"); !key.empty()) key_of_[mark.phase] = key;
      }
    }
  }

  bool none() const { return bare_.empty(); }
  bool is_bare(std::string_view name) const { return bare_.contains(name); }
  // The key under which a bare phase is timed: entire_frame_compile is _compile.compile_inner.
  std::string_view key_of(std::string_view bare) const {
    const auto it = key_of_.find(bare);
    return it == key_of_.end() ? bare : it->second;
  }

 private:
  std::unordered_set<std::string_view> bare_;
  std::unordered_map<std::string_view, std::string_view> key_of_;
};

class Builder {
 public:
  Builder(const Trace& trace, const CallTree& tree, const PhaseNames& names)
      : trace_(trace), tree_(tree), names_(names), flags_(trace, [&](std::string_view name) {
          DataMark mark;
          return name.ends_with(kTimedPhase) || names.is_bare(name) || (parse_mark(name, &mark) && names.is_bare(mark.phase));
        }) {}

  CompilePhases build() {
    inner_.assign(tree_.size(), kNoPhase);
    for (std::uint32_t n = 0; n < tree_.recorded; ++n) {
      const NodeId parent = tree_.parent[n];
      inner_[n] = parent == kNoNode ? kNoPhase : inner_[parent.value];
      const EventClass c = tree_.event_class[n];
      if (c != EventClass::op && c != EventClass::annotation) continue;
      const StringId name = trace_.events.name(tree_.event[n]);
      if (flags_[name]) add(NodeId{n}, trace_.text(name));
    }
    for (CompilePhase& phase : out_.phases) {
      phase.autotune = is_autotune_span(EventClass::op, phase.key);
      if (phase.parent == kNoPhase) continue;
      const CompilePhase& parent = out_.phases[phase.parent];
      if (!phase.id.known()) phase.id = parent.id;
      phase.autotune = phase.autotune || parent.autotune;
      if (phase.kernel.empty()) phase.kernel = parent.kernel;
    }
    return std::move(out_);
  }

 private:
  void add(NodeId n, std::string_view name) {
    const std::uint32_t around = inner_[n.value];
    DataMark mark;
    if (parse_mark(name, &mark)) {
      for (std::uint32_t p = around; p != kNoPhase; p = out_.phases[p].parent) {
        if (bare_name_[p] != mark.phase) continue;
        CompilePhase& phase = out_.phases[p];
        if (!phase.id.known()) phase.id = parse_compile_id(mark.field("compile_id"));
        if (phase.kernel.empty()) phase.kernel = mark.field("kernel_name");
        return;
      }
      return;
    }
    const bool timed = name.ends_with(kTimedPhase);
    if (timed) name.remove_suffix(kTimedPhase.size());
    if (timed && around != kNoPhase && !timed_[around] && names_.key_of(bare_name_[around]) == name) {
      out_.phases[around].key = name;  // the same phase, measured inside
      out_.phases[around].node = n;
      timed_[around] = true;
      inner_[n.value] = around;
      return;
    }
    inner_[n.value] = static_cast<std::uint32_t>(out_.phases.size());
    out_.phases.push_back({.node = n, .span = n, .key = name, .parent = around, .id = {}, .kernel = {}});
    bare_name_.push_back(name);
    timed_.push_back(timed);
  }

  const Trace& trace_;
  const CallTree& tree_;
  const PhaseNames& names_;
  const NameFlags flags_;
  std::vector<std::uint32_t> inner_;  // by node: the innermost phase
  CompilePhases out_;
  std::vector<std::string_view> bare_name_;  // by phase: as its own event has it
  std::vector<bool> timed_;                  // by phase: its timed form was seen
};

}  // namespace

CompilePhases build_compile_phases(const Trace& trace, const CallTree& tree) {
  const PhaseNames names(trace);
  if (names.none()) return {};
  CompilePhases built = Builder(trace, tree, names).build();
  if (built.phases.empty()) return built;
  std::vector<std::vector<Interval>> intervals(tree.threads.size());
  std::size_t thread = 0;
  for (const CompilePhase& phase : built.phases) {
    if (phase.parent != kNoPhase) continue;
    while (phase.node.value >= tree.threads[thread].first + tree.threads[thread].count) ++thread;
    intervals[thread].push_back({tree.start_ns[phase.node.value], tree.end_ns[phase.node.value]});
  }
  for (std::vector<Interval>& list : intervals) built.of_thread.emplace_back(std::move(list));
  return built;
}

}  // namespace ridge
