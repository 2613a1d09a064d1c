// Where each release of PyTorch wrote the id.
#include "model/region_id.h"

#include "trace/args.h"

namespace ridge {
namespace {

constexpr std::string_view kRegion = "Torch-Compiled Region";

}  // namespace

bool is_region(std::string_view name) {
  return name.starts_with(kRegion) && (name.size() == kRegion.size() || name.substr(kRegion.size()).starts_with(": "));
}

CompileId region_id(const Trace& trace, EventId region) {
  const std::string_view name = trace.text(trace.events.name(region));
  if (name.size() > kRegion.size()) return parse_compile_id(name.substr(kRegion.size() + 2));
  const auto context = find_arg(trace, region, "context");
  return context && context->as_text() ? parse_compile_id(*context->as_text()) : CompileId{};
}

}  // namespace ridge
