// ExpectedTime: what such a call takes, not what the roof allows. From the table of the device that was measured; on other
// devices scaled by their peaks; next to points that the user measured, by what those took.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "device/device.h"
#include "predict/call_features.h"
#include "predict/expected_table.h"

namespace ridge {

struct ExpectedTime {
  double ns = 0, low_ns = 0, high_ns = 0;  // about 80 % of such calls take between low and high
  std::string basis;                       // what it rests on
};

// Points of --expected-file: how their times differ from what the table says of them.
class MeasuredPoints {
 public:
  // JSON lines as the recording script writes them (op_lines.h). `device`: on which they were measured.
  static Result<MeasuredPoints> read(std::string_view text, const std::string& where, const DeviceSpec& device);

  // The factor by which calls near this one took longer than the table says, its spread, and over how many points.
  struct Correction {
    double factor = 1, low = 1, high = 1;
    std::size_t points = 0;
  };
  std::optional<Correction> near(const CallFeatures& call) const;
  std::size_t size() const { return points_.size(); }

 private:
  struct Point {
    std::string kind, op;
    std::vector<float> values;
    double log_ratio = 0;  // measured over the table's
  };
  std::vector<Point> points_;
};

// Nothing where it cannot be told; `why` then says so.
std::optional<ExpectedTime> expected_time(const CallFeatures& call, const DeviceSpec& device, const MeasuredPoints* measured,
                                          std::string* why);

}  // namespace ridge
