// The analysis `diff` as the catalog knows it.
#include <string>
#include <vector>

#include "analysis/catalog.h"
#include "analysis/diff/diff.h"
#include "base/try.h"

namespace ridge {
namespace {

// What was made of --from and --to: all figures are per iteration, and parts of one would be compared with parts of another.
Diagnostic told_iterations(std::span<const Scope> scopes) {
  std::string message = "only whole iterations between --from and --to are compared";
  for (std::size_t t = 0; t < scopes.size(); ++t) {
    const std::vector<std::size_t> inside = scopes[t].iterations();
    const std::vector<Iteration>& list = scopes[t].model().iterations().list;
    message += (t == 0 ? ", in " : "; in ") + diff::letter_of(t) + " ";
    if (scopes[t].by_time() || inside.empty()) {
      message += "everything, because there is no whole iteration";
    } else {
      message += "iteration " + std::to_string(list[inside.front()].number);
      if (inside.size() > 1) message += " to " + std::to_string(list[inside.back()].number);
    }
  }
  return {"whole_iterations", 1, message, "warning"};
}

}  // namespace

Result<Report> run_diff(std::span<const Scope> given, const Arguments& arguments) {
  TRY(const diff::Gates gates, diff::gates_of(arguments));
  TRY(const diff::Thresholds thresholds, diff::thresholds_of(arguments));
  std::vector<Scope> scopes;
  bool by_time = false;
  for (const Scope& scope : given) {
    by_time = by_time || scope.by_time();
    scopes.push_back(scope.of_whole_iterations());
  }
  const diff::Diff answer = diff::compute_diff(scopes, {thresholds});
  Report report = diff::report_diff(answer);
  if (by_time) report.diagnostics.push_back(told_iterations(scopes));
  diff::apply_gates(answer, gates, report);
  return report;
}

}  // namespace ridge
