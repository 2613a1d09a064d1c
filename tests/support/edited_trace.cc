// Finds the calls of a trace in its text and writes copies in which one is gone, slower or renamed.
#include "support/edited_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "support/spans.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

bool is_named_op(std::string_view name) { return name.starts_with("aten::") || name.starts_with("triton_"); }

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The span's text with the number behind "dur" multiplied; times have at most three decimals.
std::string slower(std::string event, double factor) {
  const std::size_t key = event.find("\"dur\":");
  const std::size_t begin = event.find_first_of("0123456789", key);
  const std::size_t end = event.find_first_not_of("0123456789.", begin);
  const auto ns = static_cast<long long>(std::llround(std::strtod(event.c_str() + begin, nullptr) * 1000 * factor));
  char text[64];
  std::snprintf(text, sizeof text, "%lld.%03lld", ns / 1000, ns % 1000);
  return event.replace(begin, end - begin, text);
}

std::string renamed(std::string event, const std::string& name) {
  const std::size_t key = event.find("\"name\":");
  const std::size_t begin = event.find('"', key + 7) + 1;
  return event.replace(begin, event.find('"', begin) - begin, name);
}

}  // namespace

struct EditedTrace::Edit {
  std::uint32_t event;
  std::optional<std::string> text;  // nothing: the event goes
};

EditedTrace::EditedTrace(std::string json)
    : json_(std::move(json)), trace_(read_ok(json_)), model_(std::make_unique<Model>(*trace_)) {
  const CallTree& tree = model_->tree();
  EXPECT_EQ(spans_of(json_).events.size(), trace_->events.size());
  work_of_node_.resize(tree.size());
  const Iterations& iterations = model_->iterations();
  calls_.resize(iterations.list.size());
  std::map<std::pair<std::int64_t, std::uint32_t>, NodeId> in_order;
  for (std::uint32_t row = 0; row < model_->links().launch.size(); ++row) {
    NodeId outermost = kNoNode;
    for (NodeId n = model_->links().launch[row]; n != kNoNode; n = tree.parent[n.value]) {
      if (tree.class_of(n) == EventClass::op && is_named_op(trace_->text(trace_->events.name(tree.event[n.value]))))
        outermost = n;
    }
    if (outermost == kNoNode) continue;
    work_of_node_[outermost.value].push_back(row);
    in_order[{tree.start_ns[outermost.value], outermost.value}] = outermost;
  }
  for (const auto& [key, node] : in_order) {
    // As everywhere, what a launch belongs to is decided by when it was made.
    const NodeId launch = model_->links().launch[work_of_node_[node.value].front()];
    const auto iteration = iterations.at(tree.start_ns[launch.value]);
    if (iteration) calls_[*iteration].push_back(node);
  }
  for (const auto& list : calls_) EXPECT_EQ(list.size(), calls_.front().size());
}

std::string EditedTrace::op_of(std::size_t call) const {
  return std::string(trace_->text(trace_->events.name(model_->tree().event[calls_.front()[call].value])));
}

std::int64_t EditedTrace::time_ns(std::size_t call, std::size_t iteration) const {
  std::int64_t sum = 0;
  for (const std::uint32_t row : work_of_node_[calls_[iteration][call].value])
    sum += trace_->events.dur_ns(trace_->of(EventClass::device_work)[row]).value_or(0);
  return sum;
}

std::vector<std::uint32_t> EditedTrace::events_of(std::size_t call, std::size_t iteration) const {
  const CallTree& tree = model_->tree();
  const NodeId op = calls_[iteration][call];
  std::vector<std::uint32_t> events{tree.event[op.value].value};
  std::vector<std::uint8_t> inside(tree.size());
  inside[op.value] = 1;
  for (std::uint32_t n = op.value + 1; n < tree.size(); ++n) {
    const NodeId parent = tree.parent[n];
    if (parent == kNoNode || inside[parent.value] == 0) continue;
    inside[n] = 1;
    events.push_back(tree.event[n].value);
  }
  for (const std::uint32_t row : work_of_node_[op.value]) events.push_back(trace_->of(EventClass::device_work)[row].value);
  return events;
}

std::string EditedTrace::copy(const std::vector<Edit>& edits) const {
  const Spans spans = spans_of(json_);
  std::map<std::uint32_t, const Edit*> edit_of;
  for (const Edit& edit : edits) edit_of[edit.event] = &edit;
  std::string out = json_.substr(0, spans.array);
  bool first = true;
  for (std::uint32_t i = 0; i < spans.events.size(); ++i) {
    const auto edit = edit_of.find(i);
    if (edit != edit_of.end() && !edit->second->text) continue;
    out += first ? "\n" : ",\n";
    first = false;
    if (edit != edit_of.end()) {
      out += *edit->second->text;
    } else {
      out.append(json_, spans.events[i].begin, spans.events[i].end - spans.events[i].begin);
    }
  }
  return out + json_.substr(spans.events.back().end);
}

std::string EditedTrace::without_call(std::size_t call, int iteration) const {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < iterations(); ++i) {
    if (iteration >= 0 && static_cast<std::size_t>(iteration) != i) continue;
    for (const std::uint32_t event : events_of(call, i)) edits.push_back({event, std::nullopt});
  }
  return copy(edits);
}

std::string EditedTrace::with_slower_call(std::size_t call, double factor) const {
  const Spans spans = spans_of(json_);
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < iterations(); ++i) {
    for (const std::uint32_t row : work_of_node_[calls_[i][call].value]) {
      const std::uint32_t event = trace_->of(EventClass::device_work)[row].value;
      const Span span = spans.events[event];
      edits.push_back({event, slower(json_.substr(span.begin, span.end - span.begin), factor)});
    }
  }
  return copy(edits);
}

std::string EditedTrace::with_renamed_call(std::size_t call, const std::string& name) const {
  const Spans spans = spans_of(json_);
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < iterations(); ++i) {
    const std::uint32_t event = model_->tree().event[calls_[i][call].value].value;
    const Span span = spans.events[event];
    edits.push_back({event, renamed(json_.substr(span.begin, span.end - span.begin), name)});
  }
  return copy(edits);
}

std::string without_shapes(std::string json) {
  return replace_all(std::move(json), "\"Input Dims\"", "\"Input Dims (hidden)\"");
}

std::string without_stacks(std::string json) {
  return replace_all(std::move(json), "\"python_function\"", "\"hidden_function\"");
}

}  // namespace ridge::test
