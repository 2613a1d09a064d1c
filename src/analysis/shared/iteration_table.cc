// One row from an IterationTime.
#include "analysis/shared/iteration_table.h"

#include <string>

#include "analysis/shared/cells.h"

namespace ridge {

Table iteration_table(const IterationTime& time) {
  Table table;
  table.name = "iteration";
  table.hints.key_value = true;
  const bool known = time.count > 0;
  table.add_column({"iterations", Type::integer, Unit::count}, {known ? Cell(time.count) : Cell()});
  table.add_column({"per", Type::text}, {known ? Cell(std::string(name_of(time.rule))) : Cell()});
  table.add_column({"iteration_ns", Type::integer, Unit::ns}, {known ? Cell(time.mean_ns()) : Cell()});
  table.add_column({"median_iteration_ns", Type::integer, Unit::ns}, {cells::integer(time.median_ns)});
  return table;
}

}  // namespace ridge
