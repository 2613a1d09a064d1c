// A table to Python: its columns as data, rows as tuples, and the columns themselves without a copy, as Arrow or as NumPy
// arrays.
#include "tables.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <ridge/arrow.h>

namespace nb = nanobind;

namespace ridge::python {
namespace {

// The values of a column as Python's objects. A text that repeats is one object.
class CellObjects {
 public:
  explicit CellObjects(const Column& column) : values_(column.values) {
    if (const auto* texts = values_.texts()) {
      for (std::uint32_t code = 0; code < texts->dictionary.size(); ++code) texts_.emplace_back();
    }
  }

  nb::object at(std::size_t row) {
    if (!values_.known(row)) return nb::none();
    if (const auto* texts = values_.texts()) {
      nb::object& text = texts_[texts->codes[row]];
      if (!text.is_valid()) text = text_of(texts->dictionary.text(texts->codes[row]));
      return text;
    }
    if (const Bitmap* flags = values_.booleans()) return nb::bool_((*flags)[row]);
    if (!values_.integers().empty()) return nb::int_(values_.integers()[row]);
    return nb::float_(values_.numbers()[row]);
  }

 private:
  const Values& values_;
  std::vector<nb::object> texts_;
};

nb::object object_of(const Cell& cell) {
  if (const auto* flag = std::get_if<bool>(&cell)) return nb::bool_(*flag);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return nb::int_(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return nb::float_(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return text_of(*text);
  return nb::none();
}

nb::list columns_of(const TableHandle& self) {
  constexpr std::string_view kRoles[] = {"plain", "event", "time_start", "time_end", "frame"};
  nb::list all;
  for (const Column& column : self.table->columns) {
    all.append(nb::make_tuple(text_of(column.name), text_of(name_of(column.type)), text_of(name_of(column.unit)),
                              text_of(kRoles[static_cast<std::size_t>(column.role)])));
  }
  return all;
}

nb::list rows_of(const TableHandle& self, std::size_t first, std::size_t count) {
  const Table& table = *self.table;
  first = std::min(first, table.size());
  count = std::min(count, table.size() - first);
  std::vector<CellObjects> columns(table.columns.begin(), table.columns.end());
  nb::list rows;
  for (std::size_t row = first; row < first + count; ++row) {
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(columns.size())));
    for (std::size_t i = 0; i < columns.size(); ++i)
      PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), columns[i].at(row).release().ptr());
    rows.append(std::move(tuple));
  }
  return rows;
}

nb::list column_of(const TableHandle& self, std::size_t i) {
  const Column& column = self.table->columns.at(i);
  CellObjects objects(column);
  nb::list all;
  for (std::size_t row = 0; row < column.size(); ++row) all.append(objects.at(row));
  return all;
}

nb::object total_of(const TableHandle& self) {
  if (!self.table->total) return nb::none();
  nb::list cells;
  for (std::size_t i = 0; i < self.table->columns.size(); ++i)
    cells.append(i < self.table->total->size() ? object_of((*self.table->total)[i]) : nb::none());
  return nb::tuple(cells);
}

nb::object parent_of(const TableHandle& self) {
  return self.table->parent ? nb::object(text_of(*self.table->parent)) : nb::none();
}

template <class Arrow>
nb::object capsule_of(std::unique_ptr<Arrow> given, const char* name) {
  PyObject* const capsule = PyCapsule_New(given.get(), name, [](PyObject* object) {
    auto* const held = static_cast<Arrow*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (capsule == nullptr) throw nb::python_error();
  given.release();
  return nb::steal(capsule);
}

// A schema that is asked for is a wish that the protocol lets one not fulfil.
nb::object arrow_stream(const TableHandle& self, const nb::object& /*requested_schema*/) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_arrow_stream(self.table, stream.get());
  return capsule_of(std::move(stream), "arrow_array_stream");
}

nb::object arrow_schema(const TableHandle& self) {
  auto schema = std::make_unique<ArrowSchema>();
  export_arrow_schema(*self.table, schema.get());
  return capsule_of(std::move(schema), "arrow_schema");
}

template <class T>
nb::object array_of(std::span<const T> values, const nb::object& owner) {
  static constexpr T kNothing{};
  const T* const data = values.empty() ? &kNothing : values.data();
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data, {values.size()}, owner));
}

// One byte per row: 1 where the bit is `set`.
nb::object bytes_of(const Bitmap& bits, bool set) {
  auto bytes = std::make_unique<std::vector<std::uint8_t>>(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) (*bytes)[i] = bits[i] == set ? 1 : 0;
  std::vector<std::uint8_t>& held = *bytes;
  const nb::capsule owner(bytes.release(), [](void* of) noexcept { delete static_cast<std::vector<std::uint8_t>*>(of); });
  return array_of(std::span<const std::uint8_t>(held), owner);
}

// (values, mask or None, texts or None): NumPy arrays, of which `values` lies in the table. The mask has 1 where a value is not
// known; `values` of texts are their places in `texts`.
nb::tuple numpy_column(const nb::handle& self, std::size_t i) {
  const Table& table = *nb::cast<const TableHandle&>(self).table;
  const Values& values = table.columns.at(i).values;
  const nb::object owner = nb::borrow(self);
  nb::object mask = nb::none(), texts = nb::none(), array;
  if (values.known().set_bits() != values.size()) mask = bytes_of(values.known(), false);
  switch (table.columns[i].type) {
    case Type::integer: array = array_of(values.integers(), owner); break;
    case Type::number: array = array_of(values.numbers(), owner); break;
    case Type::boolean: array = bytes_of(values.booleans() != nullptr ? *values.booleans() : Bitmap(), true); break;
    case Type::text: {
      static const Values::Texts kNone;
      const Values::Texts& held = values.texts() != nullptr ? *values.texts() : kNone;
      array = array_of(std::span<const std::uint32_t>(held.codes), owner);
      nb::list all;
      for (std::uint32_t code = 0; code < held.dictionary.size(); ++code) all.append(text_of(held.dictionary.text(code)));
      texts = all;
      break;
    }
  }
  return nb::make_tuple(array, mask, texts);
}

}  // namespace

nb::str text_of(std::string_view bytes) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

void register_tables(nb::module_& module) {
  nb::class_<TableHandle>(module, "Table")
      .def_prop_ro("name", [](const TableHandle& self) { return text_of(self.table->name); })
      .def_prop_ro("columns", columns_of)
      .def_prop_ro("total", total_of)
      .def_prop_ro("parent", parent_of)
      .def_prop_ro("bytes", [](const TableHandle& self) { return self.table->heap_bytes(); })
      .def("__len__", [](const TableHandle& self) { return self.table->size(); })
      .def("rows", rows_of)
      .def("column", column_of)
      .def("numpy_column", numpy_column)
      .def("arrow_stream", arrow_stream, nb::arg("requested_schema").none() = nb::none())
      .def("arrow_schema", arrow_schema);
}

}  // namespace ridge::python
