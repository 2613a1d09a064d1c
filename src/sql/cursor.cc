// Scans in runs, looks up where it can, and orders what is left.
#include "sql/cursor.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/stop.h"

namespace ridge::sql {
namespace {

constexpr std::size_t kRun = 1024;          // rows
constexpr std::uint64_t kFewRows = 64;      // a scan of so few is as quick as a lookup
constexpr std::size_t kMostlySelected = 4;  // one in so many: the whole run is read

}  // namespace

std::optional<std::span<const std::uint32_t>> AskedRelation::find(const Condition& equal) {
  if (relation_.size() <= kFewRows || relation_.size() > UINT32_MAX) return std::nullopt;
  Column& column = columns_[equal.column()];
  if (column.asked++ == 0) return std::nullopt;
  if (!column.lookup) column.lookup.emplace(relation_, equal.column());
  return column.lookup->rows(equal.constant());
}

Cursor::Cursor(AskedRelation& asked)
    : asked_(asked), relation_(asked.relation()), batches_(asked.relation().columns().size()) {}

void Cursor::filter(std::span<const std::uint32_t> in) {
  const std::size_t before = selected_.size();
  selected_.insert(selected_.end(), in.begin(), in.end());
  for (Condition& condition : conditions_) {
    std::size_t kept = before;
    for (std::size_t i = before; i < selected_.size(); ++i) {
      relation_.read(condition.column(), selected_[i], single_.room(condition.type(), 1));
      std::uint8_t keep = 1;
      condition.filter(single_, {&keep, 1});
      if (keep != 0) selected_[kept++] = selected_[i];
    }
    selected_.resize(kept);
    Stop::look();
  }
}

void Cursor::fill() {
  selected_.clear();
  at_ = 0;
  while (selected_.empty() && scanned_ < scan_end_) {
    Stop::look();
    const std::uint64_t first = scanned_;
    const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(kRun, scan_end_ - first));
    scanned_ += rows;
    ++run_;
    run_first_ = first;
    run_rows_ = rows;
    keep_.assign(rows, 1);
    for (Condition& condition : conditions_) {
      Batch& batch = batches_[condition.column()];
      if (batch.run != run_) {
        relation_.read(condition.column(), first, batch.values.room(condition.type(), rows));
        batch.run = run_;
      }
      condition.filter(batch.values, keep_);
    }
    for (std::size_t i = 0; i < rows; ++i) {
      if (keep_[i] != 0) selected_.push_back(static_cast<std::uint32_t>(first + i));
    }
  }
}

// Rows that stand together: nothing is quicker.
std::optional<RowRange> Cursor::known_range() const {
  for (const Condition& condition : conditions_) {
    const auto* value = std::get_if<std::int64_t>(&condition.constant());
    if (condition.op() != Compare::eq || value == nullptr) continue;
    if (const auto range = relation_.range_of(condition.column(), *value)) return range;
  }
  return std::nullopt;
}

// By a number before a text: ids tell few rows.
std::optional<std::span<const std::uint32_t>> Cursor::look_up() {
  for (const bool text : {false, true}) {
    for (const Condition& condition : conditions_) {
      if (condition.op() != Compare::eq || (condition.type() == Type::text) != text) continue;
      if (const auto found = asked_.find(condition)) return found;
    }
  }
  return std::nullopt;
}

void Cursor::start(const Plan& plan, std::vector<Condition> conditions) {
  conditions_ = std::move(conditions);
  selected_.clear();
  at_ = scanned_ = scan_end_ = 0;
  run_rows_ = 0;
  const std::optional<RowRange> range = known_range();
  const auto found = range ? std::nullopt : look_up();
  if (found) {
    filter(*found);
  } else {
    scanned_ = range ? range->first : 0;
    scan_end_ = range ? range->first + range->count : relation_.size();
    fill();
  }
  if (plan.arrange == Arrange::none) return;
  Rows all = std::move(selected_);
  selected_.clear();
  if (!found && conditions_.empty()) {
    all.resize(relation_.size());
    std::iota(all.begin(), all.end(), 0U);
  } else {
    while (scanned_ < scan_end_) {
      fill();
      all.insert(all.end(), selected_.begin(), selected_.end());
    }
  }
  scan_end_ = scanned_ = 0;
  run_rows_ = 0;
  order_rows(relation_, plan.order, &all);
  if (plan.arrange == Arrange::distinct) drop_repeated(relation_, plan.order, &all);
  selected_ = std::move(all);
  at_ = 0;
}

CellValue Cursor::value(std::size_t column) {
  const Type type = relation_.columns()[column].type;
  const std::uint64_t at_row = row();
  const ValueBuffer* values = &single_;
  std::size_t at = 0;
  Batch& batch = batches_[column];
  if (run_rows_ > 0 && (batch.run == run_ || selected_.size() * kMostlySelected >= run_rows_)) {
    if (batch.run != run_) {
      relation_.read(column, run_first_, batch.values.room(type, run_rows_));
      batch.run = run_;
    }
    values = &batch.values;
    at = static_cast<std::size_t>(at_row - run_first_);
  } else {
    relation_.read(column, at_row, single_.room(type, 1));
  }
  CellValue cell;
  cell.type = type;
  cell.known = values->known(at);
  if (!cell.known) return cell;
  if (type == Type::text) {
    cell.text = values->text(at);
  } else if (type == Type::number) {
    cell.number = values->number(at);
  } else {
    cell.integer = values->integer(at);
  }
  return cell;
}

}  // namespace ridge::sql
