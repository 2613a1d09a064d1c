// Random damage. Two properties: the result never depends on threads, windows or the by-rote path; and damage inside one event
// costs no other event.
#include <random>

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/sample.h"
#include "support/spans.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

using Random = std::mt19937_64;

std::size_t pick(Random& random, std::size_t below) { return random() % below; }

// One random edit of text[from, to).
void damage(Random& random, std::size_t from, std::size_t to, std::string* text) {
  static constexpr std::string_view kInserts[] = {"\"", "\\", "{",   "}",   "[",       "]",   ",",
                                                  ":",  "\n", "},{", "\"}", "{\"ph\"", "nan", "\\\""};
  const std::size_t at = from + pick(random, to - from);
  const std::size_t length = 1 + pick(random, std::min<std::size_t>(40, to - at));
  switch (pick(random, 6)) {
    case 0: (*text)[at] = static_cast<char>((*text)[at] ^ (1 << pick(random, 8))); break;
    case 1: text->erase(at, length); break;
    case 2: text->insert(at, kInserts[pick(random, std::size(kInserts))]); break;
    case 3: text->replace(at, length, length, '\0'); break;
    case 4: text->erase(at, 1); break;
    default: text->insert(at, text->substr(at, length)); break;
  }
}

class RandomDamage : public testing::TestWithParam<const char*> {};

TEST_P(RandomDamage, AllWaysAgree) {
  const std::string whole = fixture(GetParam());
  const Spans spans = spans_of(whole);
  const std::size_t size = std::min<std::size_t>(whole.size(), 30'000);
  SCOPED_TRACE(sample_note());
  for (const std::size_t round : sampled_rounds(400, 40)) {
    Random random(round);
    std::string text = whole.substr(0, size);
    if (round % 3 == 0) text = text.substr(spans.array - 1);  // the bare array
    const std::size_t wounds = 1 + pick(random, 8);
    for (std::size_t i = 0; i < wounds; ++i) damage(random, 1, text.size(), &text);
    SCOPED_TRACE("round " + std::to_string(round));
    expect_all_ways_agree(text, small_file_ways());
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, RandomDamage,
                         testing::Values("clean_tf32", "graph_breaks_inference", "flex_attention_compiled"),
                         [](const auto& p) { return std::string(p.param); });

// What lies in `damaged` of the lines of all others, in order; the damaged event itself may be there or not, in any form.
bool holds_all_others(const Lines& found, const Lines& all, std::size_t damaged, std::string* missing) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == damaged) continue;
    while (at < found.size() && found[at] != all[i]) ++at;
    if (at == found.size()) {
      *missing = all[i];
      return false;
    }
    ++at;
  }
  return true;
}

class OneDamagedEvent : public testing::TestWithParam<const char*> {};

TEST_P(OneDamagedEvent, CostsNoOther) {
  const std::string whole = fixture(GetParam());
  const Spans spans = spans_of(whole);
  const Lines all = event_lines(*read_ok(whole));
  int lost = 0;
  SCOPED_TRACE(sample_note());
  for (const std::size_t round : sampled_rounds(1600, 160)) {
    Random random(round + 1'000'000);
    const std::size_t victim = pick(random, std::min<std::size_t>(spans.events.size(), 120));
    const std::size_t last = std::min(victim + 30, spans.events.size() - 1);
    std::string text = whole.substr(0, spans.events[last].end) + "]}";
    damage(random, spans.events[victim].begin + 1, spans.events[victim].end - 1, &text);
    const auto trace = read_ok(text, small_file_ways()[round % small_file_ways().size()]);
    std::string missing;
    const Lines kept(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(last + 1));
    if (!holds_all_others(event_lines(*trace), kept, victim, &missing)) {
      ++lost;
      const std::size_t from = spans.events[victim].begin;
      ADD_FAILURE() << "round " << round << ", victim " << victim << " at " << from << ": lost " << missing << "\n"
                    << text.substr(from - 30, spans.events[victim].end - from + 200);
    }
    ASSERT_LT(lost, 6);
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, OneDamagedEvent,
                         testing::Values("clean_tf32", "graph_breaks_inference", "flex_attention_compiled"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace ridge::test
