// A trace that is asked in SQL, and its answers as plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "facts/scope.h"
#include "ingest/reader.h"
#include "model/model.h"
#include "sql/run_sql.h"

namespace ridge::sql {

class Asked {
 public:
  explicit Asked(std::string_view json) : trace_(*read_trace_bytes(json, "made.json", {})), model_(*trace_), scope_(model_) {}

  const Scope& scope() const { return scope_; }
  const Trace& trace() const { return *trace_; }

  // A row a line, its cells with | between them, null as NULL.
  std::string rows(std::string_view query) const {
    const auto table = answer_query(scope_, query, {});
    if (!table) return "error: " + table.error().message;
    std::string text;
    for (std::size_t row = 0; row < table->size(); ++row) {
      for (std::size_t column = 0; column < table->columns.size(); ++column) {
        if (column > 0) text += '|';
        std::visit([&](const auto& cell) { text += cell_text(cell); }, table->cell(row, column));
      }
      text += '\n';
    }
    return text;
  }
  Error error(std::string_view query, const Arguments& arguments = {}) const {
    const auto table = answer_query(scope_, query, arguments);
    EXPECT_FALSE(table) << query;
    return table ? Error{} : table.error();
  }

 private:
  static std::string cell_text(std::monostate) { return "NULL"; }
  static std::string cell_text(std::string_view text) { return std::string(text); }
  template <class T>
  static std::string cell_text(const T& value) {
    return fmt::format("{}", value);
  }

  std::unique_ptr<Trace> trace_;
  Model model_;
  Scope scope_;
};

}  // namespace ridge::sql
