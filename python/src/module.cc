// ridge._native: the binding over include/ridge. It knows no analysis, no table and no format by name: what there is comes from
// the engine's own lists. The package around it, python/ridge, is what users see.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/program.h"
#include "engine.h"
#include "errors.h"
#include "outside.h"
#include "profile_analysis/program.h"
#include "system_text.h"
#include "tables.h"

namespace nb = nanobind;

namespace {

// The programs of the package, in this process, which ends with them. Python is not asked again: it could wait for threads.
template <int (*Program)(const std::vector<std::string>&)>
void run_and_end(std::vector<ridge::python::SystemText> words) {
  const ridge::python::Outside outside;
  const int code = Program(ridge::python::bytes_of(std::move(words)));
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace

NB_MODULE(_native, module) {
  using namespace ridge::python;
  register_outside(module);
  register_errors(module);
  register_tables(module);
  register_reports(module);
  register_engine(module);
  register_pages(module);
  register_catalog(module);
  register_digests(module);
  module.def("command", run_and_end<ridge::cli::run_program>);
  module.def("profile_analysis", run_and_end<ridge::profile_analysis::run_program>);
}
