// A path or a word of the command line: any bytes. In Python it is a str in which os.fsdecode() has kept what is not text, so
// that a file whose name is not UTF-8, or a locale with another encoding, works as with Python's own open().
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

namespace ridge::python {

struct SystemText {
  std::string bytes;
};

inline std::vector<std::string> bytes_of(std::vector<SystemText> texts) {
  std::vector<std::string> all;
  all.reserve(texts.size());
  for (SystemText& each : texts) all.push_back(std::move(each.bytes));
  return all;
}

inline std::vector<SystemText> system_texts(std::vector<std::string> bytes) {
  std::vector<SystemText> all;
  all.reserve(bytes.size());
  for (std::string& each : bytes) all.push_back({std::move(each)});
  return all;
}

}  // namespace ridge::python

namespace nanobind::detail {

template <>
struct type_caster<ridge::python::SystemText> {
  NB_TYPE_CASTER(ridge::python::SystemText, const_name("str"))

  bool from_python(handle given, std::uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    if (!PyUnicode_Check(given.ptr())) return false;
    const object encoded = steal(PyUnicode_EncodeFSDefault(given.ptr()));
    char* bytes = nullptr;
    Py_ssize_t size = 0;
    if (!encoded.is_valid() || PyBytes_AsStringAndSize(encoded.ptr(), &bytes, &size) != 0) {
      PyErr_Clear();
      return false;
    }
    value.bytes.assign(bytes, static_cast<std::size_t>(size));
    return true;
  }

  static handle from_cpp(const ridge::python::SystemText& text, rv_policy /*policy*/, cleanup_list* /*cleanup*/) noexcept {
    return PyUnicode_DecodeFSDefaultAndSize(text.bytes.data(), static_cast<Py_ssize_t>(text.bytes.size()));
  }
};

}  // namespace nanobind::detail
