// A column of a table as data: its name, unit and meaning, and a typed getter that fills a batch of values for a range of rows.
// Whoever reads a column (SQL, Arrow, Python) pays one call per batch and none per cell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "trace/arg_key.h"
#include "trace/schema/arg_rows.h"
#include "trace/schema/table_rows.h"

namespace ridge::schema {

// Where the values go. Both spans have the length that is asked for.
template <class T>
struct Batch {
  std::span<T> values;            // T{} where the value is not known
  std::span<std::uint8_t> known;  // 0: null

  void set(std::size_t i, const std::optional<T>& value) const {
    known[i] = value.has_value();
    values[i] = value.value_or(T{});
  }
  void set_unknown() const {  // all of them
    std::ranges::fill(known, std::uint8_t{0});
    std::ranges::fill(values, T{});
  }
};

struct ColumnRows {
  const TableRows& table;
  const ArgReader* argument;         // of the column's key, where it has one
  std::span<const ArgRow> arg_rows;  // of the rows that are asked for, where they were looked up

  ArgRow arg_row(std::uint64_t first, std::size_t i) const {
    return arg_rows.empty() ? schema::arg_row(table.trace, table.event(first + i)) : arg_rows[i];
  }
};

// Fills `out` with the rows from `first` on. Texts belong to the trace.
template <class T>
using Getter = void (*)(const ColumnRows& rows, std::uint64_t first, Batch<T> out);

enum class ColumnType : std::uint8_t { integer, number, boolean, text };  // in the order of the getters below

// Of a column whose values are those of the events' forms: there are few hundred forms, and each is asked once.
template <class T>
using FormGetter = std::optional<T> (*)(const Trace& trace, FormId form);

struct Column {
  std::string_view name;
  std::string_view unit;  // ns, bytes, percent, ...; empty: none
  std::string_view line;  // what it means
  std::variant<Getter<std::int64_t>, Getter<double>, Getter<bool>, Getter<std::string_view>> get;
  ArgKey key = ArgKey::none;  // of a column that is one argument of its events
  bool member = false;        // the argument is the event's own member, not one of its args
  std::variant<std::monostate, FormGetter<std::int64_t>, FormGetter<std::string_view>> by_form = {};
  Getter<std::uint32_t> string_ids = nullptr;  // of a column of texts that are the trace's: their StringId

  ColumnType type() const { return static_cast<ColumnType>(get.index()); }
};

std::string_view name_of(ColumnType type);

// A column made ready for reading; `rows` and `column` must outlive it. Reading is thread-safe.
class ColumnReader {
 public:
  ColumnReader(const TableRows& rows, const Column& column) : rows_(&rows), column_(&column) {
    if (column.key != ArgKey::none) argument_.emplace(rows.trace, column.key, column.member, rows.of_class);
    ask_forms<std::int64_t>();
    ask_forms<std::string_view>();
  }

  // Null in all rows.
  bool is_absent() const { return argument_ && argument_->is_absent(); }
  // Whether it reads rows by their ArgRow, so that looking these up once serves it and others.
  bool reads_arg_rows() const { return (argument_ && !argument_->is_absent()) || column_->by_form.index() != 0; }

  // A column of texts is also read by keys, small numbers that stand for a text each; several may stand for one. 0: it has
  // none.
  std::size_t keys() const {
    if (const auto* forms = std::get_if<OfForms<std::string_view>>(&of_forms_)) return forms->values.size();
    return column_->string_ids != nullptr ? rows_->trace.strings.size() : 0;
  }
  std::string_view text_of(std::uint32_t key) const {
    const auto* forms = std::get_if<OfForms<std::string_view>>(&of_forms_);
    return forms != nullptr ? forms->values[key] : rows_->trace.text(StringId{key});
  }
  void read_keys(std::uint64_t first, Batch<std::uint32_t> out, std::span<const ArgRow> arg_rows = {}) const {
    const auto* forms = std::get_if<OfForms<std::string_view>>(&of_forms_);
    if (forms == nullptr) return column_->string_ids({*rows_, argument_ ? &*argument_ : nullptr, arg_rows}, first, out);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const std::uint32_t form = form_of(first + i, i, arg_rows).value;
      out.known[i] = forms->known[form];
      out.values[i] = out.known[i] != 0 ? form : 0;
    }
  }

  // T is that of the column's type. `arg_rows` are those of the same rows: who reads several columns by them looks them up
  // once.
  template <class T>
  void read(std::uint64_t first, Batch<T> out, std::span<const ArgRow> arg_rows = {}) const {
    if (is_absent()) return out.set_unknown();
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::string_view>) {
      if (const auto* forms = std::get_if<OfForms<T>>(&of_forms_)) return read_forms(*forms, first, out, arg_rows);
    }
    std::get<Getter<T>>(column_->get)({*rows_, argument_ ? &*argument_ : nullptr, arg_rows}, first, out);
  }

 private:
  // By FormId.
  template <class T>
  struct OfForms {
    std::vector<T> values;
    std::vector<std::uint8_t> known;
  };

  template <class T>
  void ask_forms() {
    const auto* ask = std::get_if<FormGetter<T>>(&column_->by_form);
    if (ask == nullptr) return;
    auto& of_forms = of_forms_.template emplace<OfForms<T>>();
    for (std::size_t form = 0; form < rows_->trace.forms.forms().size(); ++form) {
      const std::optional<T> value = (*ask)(rows_->trace, FormId{form});
      of_forms.values.push_back(value.value_or(T{}));
      of_forms.known.push_back(value.has_value());
    }
  }

  template <class T>
  void read_forms(const OfForms<T>& forms, std::uint64_t first, Batch<T> out, std::span<const ArgRow> arg_rows) const {
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const FormId form = form_of(first + i, i, arg_rows);
      out.values[i] = forms.values[form.value];
      out.known[i] = forms.known[form.value];
    }
  }

  FormId form_of(std::uint64_t row, std::size_t i, std::span<const ArgRow> arg_rows) const {
    return arg_rows.empty() ? rows_->trace.events.form(rows_->event(row)) : arg_rows[i].form;
  }

  const TableRows* rows_;
  const Column* column_;
  std::optional<ArgReader> argument_;
  std::variant<std::monostate, OfForms<std::int64_t>, OfForms<std::string_view>> of_forms_;
};

// Getters of a function that gives one value, an optional<T>: of an event, or of a row. It is inlined into the loop.
template <auto Value>
constexpr auto of_event() {
  using T = typename decltype(Value(std::declval<const Trace&>(), EventId{}))::value_type;
  return Getter<T>([](const ColumnRows& rows, std::uint64_t first, Batch<T> out) {
    for (std::size_t i = 0; i < out.values.size(); ++i) out.set(i, Value(rows.table.trace, rows.table.event(first + i)));
  });
}

// A column that its events' forms decide.
template <auto Value>
constexpr Column of_form(std::string_view name, std::string_view unit, std::string_view line) {
  using T = typename decltype(Value(std::declval<const Trace&>(), FormId{}))::value_type;
  const Getter<T> get = [](const ColumnRows& rows, std::uint64_t first, Batch<T> out) {
    for (std::size_t i = 0; i < out.values.size(); ++i)
      out.set(i, Value(rows.table.trace, rows.table.trace.events.form(rows.table.event(first + i))));
  };
  return {name, unit, line, get, ArgKey::none, false, FormGetter<T>(Value)};
}

template <auto Value>
constexpr auto of_row() {
  using T = typename decltype(Value(std::declval<const Trace&>(), std::size_t{}))::value_type;
  return Getter<T>([](const ColumnRows& rows, std::uint64_t first, Batch<T> out) {
    for (std::size_t i = 0; i < out.values.size(); ++i) out.set(i, Value(rows.table.trace, first + i));
  });
}

}  // namespace ridge::schema
