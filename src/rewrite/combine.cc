#include "rewrite/combine.h"

#include "base/try.h"
#include "rewrite/combine_plan.h"
#include "rewrite/event_list.h"
#include "rewrite/renumbering.h"

namespace ridge {
namespace {

Result<std::vector<InputFacts>> facts_of_all(const CombineInputs& inputs) {
  std::vector<InputFacts> all;
  for (std::size_t i = 0; i < inputs.count; ++i) {
    TRY(const std::unique_ptr<Trace> trace, inputs.load(i));
    all.push_back(facts_of(*trace));
  }
  return all;
}

}  // namespace

Result<CombineCounts> combine(const CombineInputs& inputs, const BlockOptions& options, PackedFile* out) {
  TRY(const std::vector<InputFacts> facts, facts_of_all(inputs));
  TRY(CombinePlan plan, plan_combination(facts));
  if (auto done = out->write(trace_head(combined_metadata(facts, plan))); !done) return tl::unexpected(done.error());
  CombineCounts counts;
  for (std::size_t i = 0; i < inputs.count; ++i) {
    TRY(const std::unique_ptr<Trace> trace, inputs.load(i));
    TRY(OpenedSource source, inputs.open(i));
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
  counts.unknown_clocks = std::move(plan.unknown_clocks);
  counts.far_apart = std::move(plan.far_apart);
  return counts;
}

}  // namespace ridge
