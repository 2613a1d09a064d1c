// ridge_compiled_form: prints what the eager kernels of traces would be compiled to (src/predict/compiled_form.h), group by
// group, as a JSON line for fit_compiled.py, and how many kernels that is.
//
//   ridge_compiled_form TRACE...
#include <cstdio>
#include <vector>

#include "facts/scope.h"
#include "ingest/reader.h"
#include "model/model.h"
#include "predict/compiled_form.h"

namespace {

void print(const char* path, const ridge::Scope& scope) {
  const auto& devices = scope.model().timeline().devices;
  if (devices.empty()) return;
  const ridge::CompiledForm form = ridge::CompiledForms(scope).of(devices.front().id);
  std::printf("{\"trace\": \"%s\", \"iterations\": %lld, \"groups\": [", path,
              static_cast<long long>(scope.model().iterations().count()));
  const char* comma = "";
  std::vector<std::size_t> kernels(form.groups.size());
  std::size_t parts = 0;
  for (std::size_t k = 0; k < form.kernels.size(); ++k) {
    ++kernels[form.kernels[k].group];
    if (k == 0 || form.kernels[k].part != form.kernels[k - 1].part) ++parts;
  }
  for (std::size_t i = 0; i < form.groups.size(); ++i) {
    const ridge::GeneratedKernels& group = form.groups[i];
    std::printf("%s[%zu, %zu, %d, %.0f, %.0f, %.1f, %.1f, %.1f, %.1f, %.0f, %.0f]", comma, kernels[i], group.ops,
                group.sure ? 1 : 0, group.now_ns, group.left_ns, group.traffic_ns, group.beyond_ns, group.beyond_of_sums_ns,
                group.beyond_of_moves_ns, group.elements, group.doubles);
    comma = ", ";
  }
  std::printf("], \"parts\": %zu}\n", parts);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto trace = ridge::read_trace(argv[i], {});
    if (!trace) {
      std::fprintf(stderr, "ridge_compiled_form: %s: %s\n", argv[i], trace.error().message.c_str());
      return 1;
    }
    const ridge::Model model(**trace);
    print(argv[i], ridge::Scope(model));
  }
}
