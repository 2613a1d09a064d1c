// Room for values.
#include "sql/relation.h"

namespace ridge::sql {

ValueRun ValueBuffer::room(Type type, std::size_t rows) {
  known_.resize(rows);
  ValueRun run;
  run.known = known_;
  switch (type) {
    case Type::number:
      numbers_.resize(rows);
      run.numbers = numbers_;
      break;
    case Type::text:
      texts_.resize(rows);
      run.texts = texts_;
      break;
    default:
      integers_.resize(rows);
      run.integers = integers_;
      break;
  }
  return run;
}

}  // namespace ridge::sql
