// Cuts or joins the iterations of the trace that guessed by those of the one that knows.
#include "analysis/diff/reconcile.h"

#include <algorithm>

#include "base/align.h"

namespace ridge::diff {

using alignment::align;
using alignment::AlignInput;
using alignment::Pair;

namespace {

// Within a tenth of each other.
bool alike(std::size_t a, std::size_t b) { return (a > b ? a - b : b - a) * 10 <= std::max(a, b); }

std::uint64_t evidence_of(const CallKind& kind) { return combine(combine(kind.op, kind.dims), kind.kernel_names); }

// Cuts `other` where `model` is cut, both being recordings of (nearly) the same calls. False when too few of them pair.
bool cut_alike(const CallSequence& model, CallSequence& other) {
  AlignInput input;
  input.levels.resize(1);
  for (const Call& call : model.calls) input.levels[0].a.push_back(evidence_of(model.kinds[call.kind]));
  for (const Call& call : other.calls) input.levels[0].b.push_back(evidence_of(other.kinds[call.kind]));
  const std::vector<Pair> pairs = align(input);
  if (pairs.size() * 10 < std::max(model.calls.size(), other.calls.size()) * 9) return false;
  std::vector<std::uint32_t> cuts{0};
  for (std::size_t i = 1; i + 1 < model.first_call.size(); ++i) {
    const auto it = std::lower_bound(pairs.begin(), pairs.end(), Pair{model.first_call[i], 0});
    cuts.push_back(it == pairs.end() ? static_cast<std::uint32_t>(other.calls.size()) : it->second);
  }
  cuts.push_back(static_cast<std::uint32_t>(other.calls.size()));
  other.first_call = std::move(cuts);
  return true;
}

// Matrix work is the same in any mode: as many calls of it in an iteration of both say that the counts are right.
bool same_matrix_work(const CallSequence& a, const CallSequence& b) {
  const auto heavy = [](const CallSequence& s) {
    return std::count_if(s.calls.begin(), s.calls.end(), [&](const Call& c) { return s.kinds[c.kind].heavy != Heavy::none; });
  };
  const auto in_a = static_cast<std::size_t>(heavy(a)), in_b = static_cast<std::size_t>(heavy(b));
  return in_a > 0 && in_b > 0 && alike(in_a * b.iterations(), in_b * a.iterations());
}

// Joins every `factor` iterations into one.
void join_iterations(CallSequence& sequence, std::size_t factor) {
  std::vector<std::uint32_t> cuts;
  for (std::size_t i = 0; i + 1 < sequence.first_call.size(); i += factor) cuts.push_back(sequence.first_call[i]);
  cuts.push_back(sequence.first_call.back());
  sequence.first_call = std::move(cuts);
}

// `guessed` has more iterations than `known`, a multiple: repeats inside a step, unless the matrix work says otherwise.
void trust(const CallSequence& known, CallSequence& guessed) {
  const std::size_t few = known.iterations(), many = guessed.iterations();
  if (many <= few || few < 2 || many % few != 0 || same_matrix_work(known, guessed)) return;
  join_iterations(guessed, many / few);
}

}  // namespace

void reconcile_iterations(CallSequence& a, IterationRule rule_a, CallSequence& b, IterationRule rule_b) {
  if (a.iterations() == b.iterations()) return;
  const bool guess_a = is_guess(rule_a), guess_b = is_guess(rule_b);
  if (alike(a.calls.size(), b.calls.size())) {
    // As many calls in both: as many iterations too. A trace that was cut is the model of one that could not be.
    const bool a_is_model = guess_a == guess_b ? a.iterations() > b.iterations() : guess_b;
    if (a_is_model && guess_b && cut_alike(a, b)) return;
    if (!a_is_model && guess_a && cut_alike(b, a)) return;
  }
  if (guess_a && !guess_b) trust(b, a);
  if (guess_b && !guess_a) trust(a, b);
}

}  // namespace ridge::diff
