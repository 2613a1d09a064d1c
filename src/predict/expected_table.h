// The table of expected times: for each kind of call, how many times longer than its base time (call_features.h) it took on the
// device of the table, learned from measured points as sums of small decision trees; and how far such predictions were off on
// points that they had not seen. tools/make_expected_table writes it; the format is in expected_table.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "predict/call_features.h"

namespace ridge {

// What the table says of a call: a factor of its base time, and the middle 80 % of what was measured of such calls, as factors
// too.
struct ExpectedFactor {
  double factor = 1, low = 1, high = 1;
  std::int64_t points = 0;  // of calls of this kind that take about as long
  bool op_known = true;     // the op itself was measured, not only others of its kind
};

class ExpectedTable {
 public:
  static Result<ExpectedTable> read(std::string_view text);
  static const ExpectedTable& built_in();

  const std::string& device() const { return device_; }
  const std::string& source() const { return source_; }

  // Nothing where calls of this kind were not measured. `base_ns`: on the table's own device.
  std::optional<ExpectedFactor> factor(const CallFeatures& call, double base_ns) const;

 private:
  struct Node {
    std::int32_t feature = -1;  // below 0: a leaf
    std::int32_t right = 0;     // the left one follows its parent
    float value = 0;            // the cut, or the leaf's
  };
  struct Spread {
    float base_upto = 0;  // log2 of the base time
    float low = 0, high = 0;
    std::int64_t points = 0;
  };
  struct Kind {
    std::string name;
    float start = 0, unit = 0;
    std::vector<std::string> ops;  // by their code
    std::vector<std::vector<float>> cuts;
    std::vector<Spread> spreads;
    std::vector<std::int32_t> roots;
    std::vector<Node> nodes;
  };
  class Reader;

  std::string device_, source_;
  std::vector<Kind> kinds_;
};

}  // namespace ridge
