// Which exception an error becomes. The classes are Python's own, in ridge/_errors.py.
#include "errors.h"

#include <array>
#include <string_view>

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace ridge::python {
namespace {

// In the order of ErrorCode.
constexpr std::array<std::string_view, 8> kCodes = {"cannot_open",     "not_a_trace",  "truncated", "too_large",
                                                    "too_many_traces", "cannot_write", "usage",     "interrupted"};

nb::str text(std::string_view bytes) {  // messages quote what a trace holds: any bytes
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

void raise(const Error& error) {
  if (error.code == ErrorCode::interrupted) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return;
  }
  try {
    const std::string_view code = kCodes.at(static_cast<std::size_t>(error.code));
    const nb::object made =
        nb::module_::import_("ridge._errors").attr("of")(text(code), text(error.message), text(error.where), text(error.hint));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  } catch (nb::python_error& failed) {
    failed.restore();
  }
}

}  // namespace

void register_errors(nb::module_& /*module*/) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Raised& raised) {
      raise(raised.error);
    }
  });
}

}  // namespace ridge::python
