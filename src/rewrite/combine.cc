// Two passes: read each input for its facts, then write each by the plan. One trace in memory at a time.
#include "rewrite/combine.h"

#include "base/distinct_names.h"
#include "base/try.h"
#include "rewrite/combine_plan.h"
#include "rewrite/event_list.h"
#include "rewrite/renumbering.h"

namespace ridge {
namespace {

Result<std::unique_ptr<Trace>> load(const CombineInput& input, const ReadOptions& read) {
  return input.bytes ? read_trace_bytes(*input.bytes, input.path, read) : read_trace(input.path, read);
}

Result<OpenedSource> open(const CombineInput& input) {
  if (input.bytes) return open_bytes(*input.bytes);
  return open_source(input.path);
}

}  // namespace

Result<CombineCounts> combine(std::span<const CombineInput> inputs, const ReadOptions& read, const BlockOptions& options,
                              PackedFile* out) {
  CombineCounts counts;
  std::vector<InputFacts> facts;
  for (const CombineInput& input : inputs) {
    TRY(const std::unique_ptr<Trace> trace, load(input, read));
    facts.push_back(facts_of(*trace));
    counts.diagnostics.push_back(trace->diagnostics);
  }
  std::vector<std::string> paths;
  for (const CombineInput& input : inputs) paths.push_back(input.path);
  const std::vector<std::string> names = distinct_names(paths);
  for (std::size_t i = 0; i < facts.size(); ++i) facts[i].clock.name = names[i];
  TRY(CombinePlan plan, plan_combination(facts));
  if (auto done = out->write(trace_head(combined_metadata(facts, plan))); !done) return tl::unexpected(done.error());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TRY(const std::unique_ptr<Trace> trace, load(inputs[i], read));
    TRY(OpenedSource source, open(inputs[i]));
    const Renumbering renumbering(*trace, plan.inputs[i]);
    const bool any_before = counts.events != 0;
    const auto transform = [&](Block* block) {
      for (std::size_t e = block->first_event; e < block->last_event; ++e) {
        const EventPlace place = trace->places[e];
        block->output.append(before_event(e == 0 && !any_before));
        renumbering.append(EventId{static_cast<std::uint32_t>(e)}, block->at(place), block->end_of(place), &block->output);
      }
    };
    if (auto done = rewrite_blocks(*trace, std::move(source), options, transform, out); !done)
      return tl::unexpected(done.error());
    counts.events += trace->events.size();
  }
  if (auto done = out->write(trace_tail()); !done) return tl::unexpected(done.error());
  counts.clocks = std::move(plan.clocks);
  return counts;
}

}  // namespace ridge
