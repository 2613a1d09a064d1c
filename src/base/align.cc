// Anchors, then a table of scores for small gaps, then Myers for large ones: each step takes what the one before left.
#include "base/align.h"

#include <algorithm>
#include <unordered_map>

namespace ridge::alignment {
namespace {

struct Range {
  std::uint32_t a0, a1, b0, b1;
  bool empty() const { return a0 >= a1 || b0 >= b1; }
  std::uint64_t cells() const { return std::uint64_t{a1 - a0} * (b1 - b0); }
};

constexpr std::uint64_t kMostCells = std::uint64_t{1} << 19;  // of a table of scores: 2 MiB
constexpr int kMostEdits = 2000;

class Aligner {
 public:
  explicit Aligner(const AlignInput& input) : in_(input) {}

  std::vector<Pair> run() {
    Range all{0, static_cast<std::uint32_t>(in_.size_a()), 0, static_cast<std::uint32_t>(in_.size_b())};
    solve(all, 0, 0);
    std::sort(pairs_.begin(), pairs_.end());
    return std::move(pairs_);
  }

 private:
  bool equal(std::size_t level, std::uint32_t i, std::uint32_t j) const {
    const std::uint64_t key = in_.levels[level].a[i];
    return key != 0 && key == in_.levels[level].b[j];
  }

  void trim(Range& r, std::size_t level) {
    while (!r.empty() && equal(level, r.a0, r.b0)) pairs_.emplace_back(r.a0++, r.b0++);
    while (!r.empty() && equal(level, r.a1 - 1, r.b1 - 1)) pairs_.emplace_back(--r.a1, --r.b1);
  }

  // What is left of a range once `anchors`, ascending on both sides, are taken out of it.
  void between(const Range& r, const std::vector<Pair>& anchors, std::size_t level, int depth) {
    Range gap{r.a0, r.a0, r.b0, r.b0};
    for (const auto& [i, j] : anchors) {
      pairs_.emplace_back(i, j);
      gap.a1 = i;
      gap.b1 = j;
      solve(gap, level, depth + 1);
      gap.a0 = i + 1;
      gap.b0 = j + 1;
    }
    gap.a1 = r.a1;
    gap.b1 = r.b1;
    solve(gap, level, depth + 1);
  }

  void solve(Range r, std::size_t level, int depth) {
    constexpr int kDeepest = 64;
    trim(r, level);
    if (r.empty()) return;
    if (depth < kDeepest) {
      const std::vector<Pair> anchors = unique_anchors(r, level);
      if (!anchors.empty()) return between(r, anchors, level, depth);
    }
    if (r.cells() <= kMostCells) return best_score(r);
    if (depth < kDeepest) {
      const std::vector<Pair> anchors = fewest_edits(r, level);
      if (!anchors.empty()) return between(r, anchors, std::min(level + 1, in_.levels.size() - 1), depth);
    }
    if (level + 1 < in_.levels.size()) return solve(r, level + 1, depth);
    by_occurrence(r);
  }

  // Values that occur once on each side of the range, the longest run of them that ascends on both.
  std::vector<Pair> unique_anchors(const Range& r, std::size_t level) const {
    struct Seen {
      std::uint32_t count_a = 0, count_b = 0, at_b = 0;
    };
    std::unordered_map<std::uint64_t, Seen> seen;
    const Evidence& keys = in_.levels[level];
    for (std::uint32_t i = r.a0; i < r.a1; ++i) ++seen[keys.a[i]].count_a;
    for (std::uint32_t j = r.b0; j < r.b1; ++j) {
      const auto it = seen.find(keys.b[j]);
      if (it == seen.end()) continue;
      ++it->second.count_b;
      it->second.at_b = j;
    }
    std::vector<Pair> candidates;
    for (std::uint32_t i = r.a0; i < r.a1; ++i) {
      if (keys.a[i] == 0) continue;
      const Seen& s = seen[keys.a[i]];
      if (s.count_a == 1 && s.count_b == 1) candidates.emplace_back(i, s.at_b);
    }
    return longest_ascent(candidates);
  }

  // `candidates` ascend in a; the longest subsequence that ascends in b too.
  static std::vector<Pair> longest_ascent(const std::vector<Pair>& candidates) {
    std::vector<std::uint32_t> tails, before(candidates.size(), UINT32_MAX);  // indexes of candidates
    for (std::uint32_t c = 0; c < candidates.size(); ++c) {
      const auto it = std::lower_bound(tails.begin(), tails.end(), candidates[c].second,
                                       [&](std::uint32_t tail, std::uint32_t b) { return candidates[tail].second < b; });
      if (it != tails.begin()) before[c] = *(it - 1);
      if (it == tails.end()) {
        tails.push_back(c);
      } else {
        *it = c;
      }
    }
    std::vector<Pair> run;
    for (std::uint32_t c = tails.empty() ? UINT32_MAX : tails.back(); c != UINT32_MAX; c = before[c])
      run.push_back(candidates[c]);
    std::reverse(run.begin(), run.end());
    return run;
  }

  int score_of(std::uint32_t i, std::uint32_t j) const {
    const auto levels = static_cast<int>(in_.levels.size());
    for (int level = 0; level < levels; ++level) {
      if (equal(static_cast<std::size_t>(level), i, j)) return 10 * (levels - level) + 10;
    }
    return in_.score ? in_.score(i, j) : 0;
  }

  // Needleman and Wunsch without a price for gaps. Ties take the pair, so that equal runs pair from the front.
  void best_score(const Range& r) {
    const std::uint32_t n = r.a1 - r.a0, m = r.b1 - r.b0;
    std::vector<std::int32_t> best((std::size_t{n} + 1) * (m + 1), 0);
    std::vector<std::int32_t> scores(std::size_t{n} * m);
    const auto at = [&](std::uint32_t i, std::uint32_t j) -> std::int32_t& { return best[std::size_t{i} * (m + 1) + j]; };
    for (std::uint32_t i = n; i-- > 0;) {
      for (std::uint32_t j = m; j-- > 0;) {
        const std::int32_t score = score_of(r.a0 + i, r.b0 + j);
        scores[std::size_t{i} * m + j] = score;
        at(i, j) = std::max({at(i + 1, j), at(i, j + 1), score > 0 ? at(i + 1, j + 1) + score : 0});
      }
    }
    for (std::uint32_t i = 0, j = 0; i < n && j < m;) {
      const std::int32_t score = scores[std::size_t{i} * m + j];
      if (score > 0 && at(i, j) == at(i + 1, j + 1) + score) {
        pairs_.emplace_back(r.a0 + i++, r.b0 + j++);
      } else if (at(i, j) == at(i + 1, j)) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  // Myers' greedy algorithm at one level of evidence; nothing when it takes more than kMostEdits.
  std::vector<Pair> fewest_edits(const Range& r, std::size_t level) const {
    const auto n = static_cast<int>(r.a1 - r.a0), m = static_cast<int>(r.b1 - r.b0);
    std::vector<std::vector<int>> history;
    std::vector<int> furthest(2 * kMostEdits + 3, 0);
    const auto at = [&](int k) -> int& { return furthest[static_cast<std::size_t>(k + kMostEdits + 1)]; };
    for (int d = 0; d <= kMostEdits; ++d) {
      for (int k = -d; k <= d; k += 2) {
        int x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        int y = x - k;
        while (x < n && y < m && x >= 0 && y >= 0 &&
               equal(level, r.a0 + static_cast<std::uint32_t>(x), r.b0 + static_cast<std::uint32_t>(y))) {
          ++x;
          ++y;
        }
        at(k) = x;
        if (x >= n && y >= m) return trace_back(r, level, history, d, n, m);
      }
      history.emplace_back(furthest.begin() + (kMostEdits + 1 - d), furthest.begin() + (kMostEdits + 2 + d));
    }
    return {};
  }

  std::vector<Pair> trace_back(const Range& r, std::size_t level, const std::vector<std::vector<int>>& history, int edits,
                               int n, int m) const {
    std::vector<Pair> run;
    int x = n, y = m;
    for (int d = edits; d >= 0 && (x > 0 || y > 0); --d) {
      const int k = x - y;
      int from_x = 0, from_y = 0;
      if (d > 0) {
        const std::vector<int>& row = history[static_cast<std::size_t>(d - 1)];  // of -(d-1) to d-1
        const auto at = [&](int diagonal) {
          const int i = diagonal + d - 1;
          return i < 0 || i >= static_cast<int>(row.size()) ? -1 : row[static_cast<std::size_t>(i)];
        };
        const int down = k == -d || (k != d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
        from_x = at(down);
        from_y = from_x - down;
      }
      while (x > from_x && y > from_y) {
        --x;
        --y;
        const std::uint32_t i = r.a0 + static_cast<std::uint32_t>(x), j = r.b0 + static_cast<std::uint32_t>(y);
        if (equal(level, i, j)) run.emplace_back(i, j);
      }
      x = from_x;
      y = from_y;
    }
    std::reverse(run.begin(), run.end());
    return run;
  }

  void by_occurrence(const Range& r) {
    std::vector<std::uint32_t> a(r.a1 - r.a0), b(r.b1 - r.b0);
    for (std::uint32_t i = 0; i < a.size(); ++i) a[i] = r.a0 + i;
    for (std::uint32_t j = 0; j < b.size(); ++j) b[j] = r.b0 + j;
    const std::vector<Pair> pairs = longest_ascent(pair_by_occurrence(a, b, in_.levels.front()));
    pairs_.insert(pairs_.end(), pairs.begin(), pairs.end());
  }

  const AlignInput& in_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::vector<Pair> align(const AlignInput& input) { return Aligner(input).run(); }

std::vector<Pair> pair_by_occurrence(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                     const Evidence& evidence) {
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> places;  // of b, last first
  for (std::size_t j = b.size(); j-- > 0;) {
    if (evidence.b[b[j]] != 0) places[evidence.b[b[j]]].push_back(b[j]);
  }
  std::vector<Pair> pairs;
  for (const std::uint32_t i : a) {
    const auto it = evidence.a[i] == 0 ? places.end() : places.find(evidence.a[i]);
    if (it == places.end() || it->second.empty()) continue;
    pairs.emplace_back(i, it->second.back());
    it->second.pop_back();
  }
  return pairs;
}

}  // namespace ridge::alignment
