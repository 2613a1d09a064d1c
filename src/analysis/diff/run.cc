// The analysis `diff` as the catalog knows it.
#include "analysis/catalog.h"
#include "analysis/diff/diff.h"
#include "base/try.h"

namespace ridge {

Result<Report> run_diff(std::span<const Scope> scopes, const Arguments& arguments) {
  TRY(const diff::Gates gates, diff::gates_of(arguments));
  TRY(const diff::Thresholds thresholds, diff::thresholds_of(arguments));
  const diff::Diff answer = diff::compute_diff(scopes, {thresholds});
  Report report = diff::report_diff(answer);
  diff::apply_gates(answer, gates, report);
  return report;
}

}  // namespace ridge
