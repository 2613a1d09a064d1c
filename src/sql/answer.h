// Answer: the rows of a query as a Table. SQLite's values have a type each and a Table's columns one: a column of integers and
// reals is one of numbers, anything else that is mixed is text.
#pragma once

#include <string>
#include <vector>

#include <ridge/table.h>

struct sqlite3_stmt;

namespace ridge::sql {

class TraceSql;

class Answer {
 public:
  // The columns of the statement; those that stand as they are in a table keep its unit and what a click opens.
  Answer(sqlite3_stmt* statement, const TraceSql& tables);

  void add_row(sqlite3_stmt* statement);
  std::uint64_t bytes() const { return bytes_; }  // about
  Table table() &&;

 private:
  struct Result {
    Column column;
    bool typed = false;  // a value was met
    bool boolean = false;
  };
  void add(sqlite3_stmt* statement, int index, Result& result);
  static void become(Type type, Result& result);
  std::string free_name(const std::string& wanted) const;

  std::vector<Result> results_;
  std::uint64_t bytes_ = 0;
};

}  // namespace ridge::sql
