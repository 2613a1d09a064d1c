// The cells of each column, in the columns' order.
#include "analysis/shared/cost_columns.h"

#include <cmath>

#include "analysis/shared/cells.h"
#include "base/lasting.h"

namespace ridge {

const std::vector<Column>& cost_columns() {
  static const auto& columns = lasting(std::vector<Column>{{"flops", Type::number, Unit::flop},
                                                           {"flops_pointwise", Type::number, Unit::flop},
                                                           {"bytes_read", Type::number, Unit::bytes},
                                                           {"bytes_written", Type::number, Unit::bytes},
                                                           {"flops_per_s", Type::number, Unit::flop_per_s},
                                                           {"bytes_per_s", Type::number, Unit::bytes_per_s},
                                                           {"pct_peak_flops", Type::number, Unit::percent},
                                                           {"pct_peak_bandwidth", Type::number, Unit::percent},
                                                           {"bound", Type::text},
                                                           {"roof_ns", Type::number, Unit::ns},
                                                           {"headroom_ns", Type::number, Unit::ns},
                                                           {"dtype", Type::text},
                                                           {"estimate", Type::text}});
  return columns;
}

void push_cost_cells(const CostSum& sum, Row* row) {
  const CostSum cost = sum.told();
  row->push_back(cells::number(cost.flops.value()));
  row->push_back(cells::number(cost.flops_pointwise.value()));
  row->push_back(cells::number(cost.bytes_read.value()));
  row->push_back(cells::number(cost.bytes_written.value()));
  row->push_back(cells::number(cost.flops.per_second()));
  row->push_back(cells::number(cost.bytes.per_second()));
  row->push_back(cells::number(cost.peak_flops_ns.pct_of_time()));
  row->push_back(cells::number(cost.peak_bytes_ns.pct_of_time()));
  row->push_back(cells::text(name_of(cost.bound())));
  row->push_back(cells::number(cost.roof_ns.value()));
  row->push_back(cells::number(cost.headroom_ns.value()));
  row->push_back(cells::text(cost.dtype_text()));
  row->push_back(cells::text(name_of(cost.estimate)));
}

const std::vector<Column>& expected_columns() {
  static const auto& columns =
      lasting(std::vector<Column>{{"expected_ns", Type::number, Unit::ns}, {"slowdown", Type::number}});
  return columns;
}

void push_expected_cells(const KnownSum& expected, std::int64_t time_ns, Row* row) {
  const bool told = expected.speaks_for(time_ns) && expected.sum > 0;
  row->push_back(told ? Cell(std::round(expected.sum)) : Cell());
  row->push_back(told ? Cell(static_cast<double>(expected.time_ns) / expected.sum) : Cell());
}

const std::vector<Column>& coverage_columns() {
  static const auto& columns = lasting(std::vector<Column>{{"flops_known_pct", Type::number, Unit::percent},
                                                           {"bytes_known_pct", Type::number, Unit::percent},
                                                           {"flops_causal", Type::number, Unit::flop}});
  return columns;
}

void push_coverage_cells(const CostSum& cost, Row* row) {
  row->push_back(cells::number(cost.flops_known_pct()));
  row->push_back(cells::number(cost.bytes_known_pct()));
  row->push_back(cells::number(cost.flops_causal.value()));
}

}  // namespace ridge
