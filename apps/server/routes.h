// The doors of the API that are no analyses: the traces, the timeline, and what is shown beside them.
#pragma once

#include <span>
#include <string_view>

#include "answer.h"
#include "query.h"
#include "site.h"

namespace ridge::server {

// Whom a door asks, and how long the texts of its answer may be.
struct Asked {
  const Site& site;
  std::size_t longest_text;

  const Shelf& shelf() const { return site.shelf(); }
  const Arguments& defaults() const { return site.defaults(); }
};

struct Route {
  std::string_view name;  // behind kApi
  Result<Answer> (*get)(const Asked&, const Target&);
  bool cached;  // few different questions, and the answer takes a while
};

std::span<const Route> routes();

// The trace that a question names, the first where it names none.
Result<std::size_t> trace_of(const Site& site, Parameters& parameters);

}  // namespace ridge::server
