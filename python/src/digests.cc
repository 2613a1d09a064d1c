// Digests of ranks: made of one trace, and what files of them hold, as tables. The GIL is released wherever the engine works.
#include <ridge/digest.h>

#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <ridge/digest_tables.h>

#include "engine.h"
#include "errors.h"
#include "outside.h"
#include "system_text.h"
#include "tables.h"
#include "watched.h"

namespace nb = nanobind;

namespace ridge::python {
namespace {

// Callers read many traces at once: each is read by one thread of its own.
nb::bytes digest(const SystemText& path, const SystemText& name, unsigned threads, std::uint64_t max_bytes) {
  OpenOptions options{.threads = threads, .max_bytes = max_bytes};
  if (!name.bytes.empty()) options.names = {name.bytes};
  std::optional<std::string> bytes;
  {
    const Outside outside;
    bytes = or_raise(make_digest_bytes(path.bytes, options));
  }
  return nb::bytes(bytes->data(), bytes->size());
}

nb::list tables(std::vector<SystemText> paths) {
  std::vector<Table> made;
  watched([&](Watch& watch) {
    OpenOptions options;
    options.progress = [&](const Progress& p) { return watch.goes_on(p); };
    made = or_raise(digest_tables(bytes_of(std::move(paths)), options));
  });
  nb::list all;
  for (Table& table : made) all.append(nb::cast(TableHandle{std::make_shared<const Table>(std::move(table))}));
  return all;
}

}  // namespace

void register_digests(nb::module_& module) {
  module.def("digest", digest, nb::arg("path"), nb::arg("name") = "", nb::arg("threads") = 1, nb::arg("max_bytes") = 0);
  module.def("digest_tables", tables);
}

}  // namespace ridge::python
