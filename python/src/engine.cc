// Opening traces, asking questions, reading the tables of a trace, rewriting. The GIL is released wherever the engine works.
#include "engine.h"

#include <optional>
#include <string>
#include <vector>

#include <malloc.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <ridge/folder.h>
#include <ridge/rewrite.h>
#include <ridge/trace_table.h>

#include "errors.h"
#include "outside.h"
#include "system_text.h"
#include "tables.h"
#include "watched.h"

namespace nb = nanobind;

namespace ridge::python {
namespace {

struct TraceTableHandle {
  std::shared_ptr<const TraceTable> table;
};

std::function<void(const Progress&)> shown_by(const nb::object& progress) {
  if (progress.is_none()) return {};
  return [progress](const Progress& p) { progress(text_of(p.phase), p.done, p.total); };
}

OpenOptions options_of(unsigned threads, std::uint64_t max_bytes, std::uint64_t cache_bytes, bool named_files_only,
                       std::vector<std::string> captures) {
  return {.threads = threads,
          .max_bytes = max_bytes,
          .cache_bytes = cache_bytes,
          .named_files_only = named_files_only,
          .captures = std::move(captures),
          .keep_places = true};
}

EngineHandle open_traces(std::vector<SystemText> paths, unsigned threads, std::uint64_t max_bytes, std::uint64_t cache_bytes,
                         bool named_files_only, std::vector<SystemText> captures, bool digests_only, bool digest_findings,
                         const nb::object& progress) {
  OpenOptions options = options_of(threads, max_bytes, cache_bytes, named_files_only, bytes_of(std::move(captures)));
  options.digests_only = digests_only;
  options.digest_findings = digest_findings;
  std::optional<Engine> engine;
  watched(
      [&](Watch& watch) {
        options.progress = [&](const Progress& p) { return watch.goes_on(p); };
        engine.emplace(or_raise(Engine::open(or_raise(with_folders_expanded(bytes_of(std::move(paths)))), options)));
      },
      shown_by(progress));
  return {std::make_shared<const Engine>(std::move(*engine))};
}

ReportHandle run(const EngineHandle& self, const std::string& analysis, const nb::dict& arguments,
                 std::optional<std::size_t> trace) {
  const Arguments given = arguments_of(arguments);
  const std::shared_ptr<const Engine> engine = self.engine;
  std::shared_ptr<const Report> report;
  watched([&](Watch&) { report = or_raise(engine->kept_report(analysis, given, trace)); });
  return {std::move(report)};
}

TraceTableHandle trace_table(const EngineHandle& self, std::size_t trace, const std::string& name) {
  const Outside outside;
  return {or_raise(self.engine->trace_table(trace, name))};
}

TableHandle read_table(const TraceTableHandle& self, const std::vector<std::size_t>& columns, std::uint64_t first,
                       std::uint64_t count) {
  for (const std::size_t column : columns) {
    if (column >= self.table->info().columns.size()) throw nb::index_error("no such column");
  }
  const Outside outside;
  return {std::make_shared<const Table>(self.table->read(columns, first, count))};
}

nb::dict rewrite_trace(const std::string& name, std::vector<SystemText> inputs, const SystemText& output,
                       const nb::dict& arguments, const nb::object& progress) {
  const Arguments given = arguments_of(arguments);
  RewriteSummary summary;
  watched(
      [&](Watch& watch) {
        OpenOptions options;
        options.progress = [&](const Progress& p) { return watch.goes_on(p); };
        summary = or_raise(rewrite(name, bytes_of(std::move(inputs)), output.bytes, given, options));
      },
      shown_by(progress));
  nb::dict counts;
  for (const auto& [what, count] : summary.counts) counts[text_of(what)] = count;
  return counts;
}

// What a large trace took lies in the allocator's lists after it went: this hands it back to the system.
void give_memory_back() {
#ifdef __GLIBC__
  if (is_to_stop()) return;  // called by destructors, which cannot be stopped; all of it goes back soon
  const Outside outside;
  ::malloc_trim(0);
#endif
}

}  // namespace

Arguments arguments_of(const nb::dict& given) {
  Arguments arguments;
  for (const auto& [name, value] : given) arguments.emplace(nb::cast<std::string>(name), nb::cast<std::string>(value));
  return arguments;
}

void register_engine(nb::module_& module) {
  nb::class_<EngineHandle>(module, "Engine")
      .def("run", run, nb::arg("analysis"), nb::arg("arguments"), nb::arg("trace").none() = nb::none())
      .def("trace_table", trace_table)
      .def_prop_ro("trace_count", [](const EngineHandle& self) { return self.engine->trace_count(); })
      .def_prop_ro("cached_bytes", [](const EngineHandle& self) { return self.engine->cached_bytes(); });
  nb::class_<TraceTableHandle>(module, "TraceTable")
      .def("__len__", [](const TraceTableHandle& self) { return self.table->size(); })
      .def("read", read_table);
  module.def("open", open_traces, nb::arg("paths"), nb::arg("threads") = 0, nb::arg("max_bytes") = 0,
             nb::arg("cache_bytes") = 0, nb::arg("named_files_only") = false, nb::arg("captures") = std::vector<SystemText>(),
             nb::arg("digests_only") = false, nb::arg("digest_findings") = false, nb::arg("progress").none() = nb::none());
  module.def("without_trace", [] { return EngineHandle{std::make_shared<const Engine>(Engine::without_trace())}; });
  module.def("expanded", [](std::vector<SystemText> paths) {
    return system_texts(or_raise(with_folders_expanded(bytes_of(std::move(paths)))));
  });
  module.def("rewrite", rewrite_trace, nb::arg("name"), nb::arg("inputs"), nb::arg("output"), nb::arg("arguments"),
             nb::arg("progress").none() = nb::none());
  module.def("give_memory_back", give_memory_back);
}

}  // namespace ridge::python
