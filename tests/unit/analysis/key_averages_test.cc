// `ops` against PyTorch's own table: programs recorded on an H200 with torch 2.11, and beside each trace what key_averages()
// and key_averages(group_by_input_shape=True) said of it.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analysis/ops/ops.h"
#include "support/files.h"
#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

constexpr const char* kPrograms[] = {"eager_train", "compiled_train",       "checkpoint_threads",
                                     "host_only",   "compiled_break_graph", "inference_stack"};

std::string path_to(const std::string& file) { return test::source_dir() + "/tests/fixtures/key_averages/" + file; }

// What PyTorch's table has besides what the program did, and `ops` has not: see analysis/ops/table_calls.h.
struct Beside {
  std::set<std::string, std::less<>> around_requests;  // ops around the profiler's requests for buffers
  std::int64_t requests_ns = 0;                        // what these took
  std::int64_t unprofiled_calls_ns = 0;                // runtime calls of threads without ops

  explicit Beside(const LoadedTrace& loaded) {
    const Trace& trace = *loaded.trace;
    const CallTree& tree = loaded.model->tree();
    for (const EventId request : trace.of(EventClass::overhead)) {
      requests_ns += trace.events.dur_ns(request).value_or(0);
      for (const HostThread& thread : tree.threads) {
        for (NodeId n = tree.innermost_at(thread, trace.events.ts_ns(request)); n != kNoNode; n = tree.parent[n.value])
          around_requests.emplace(trace.text(trace.events.name(tree.event[n.value])));
      }
    }
    for (const HostThread& thread : tree.threads) {
      bool has_ops = false;
      std::int64_t calls_ns = 0;
      for (std::uint32_t i = thread.first; i < thread.first + thread.count; ++i) {
        has_ops = has_ops || tree.event_class[i] == EventClass::op;
        if (tree.event_class[i] == EventClass::launch) calls_ns += tree.duration_ns(NodeId{i});
      }
      if (!has_ops) unprofiled_calls_ns += calls_ns;
    }
  }
};

// Times are printed in microseconds with three decimals, and summed as doubles.
void expect_near(std::int64_t found, std::int64_t wanted, const std::string& what) {
  EXPECT_LE(std::abs(found - wanted), 2) << what << ": " << found << ", PyTorch: " << wanted;
}

class KeyAverages : public testing::TestWithParam<const char*> {
 protected:
  static void compare(const LoadedTrace& loaded, const simdjson::dom::array& rows, std::optional<OpsBy> by) {
    const Scope scope(*loaded.model);
    const Ops ops = compute_ops(scope, by, WithCosts::no);
    const Beside beside(loaded);
    std::int64_t more_self_ns = 0;
    std::size_t compared = 0;
    for (const auto& row : rows) {
      const std::string_view key = row["key"];
      const std::string_view shapes = by ? std::string_view(row["shapes"]) : std::string_view();
      const auto found = std::ranges::find_if(ops.rows, [&](const OpRow& r) {
        return r.op == key && (!by || r.detail == shapes || (shapes == "[]" && r.detail.empty()));
      });
      if (found == ops.rows.end()) continue;  // a runtime call
      ++compared;
      const std::string what = std::string(key) + " " + std::string(shapes);
      EXPECT_EQ(found->count, std::int64_t(row["count"])) << what;
      expect_near(found->cpu_total_ns, row["cpu_total_ns"], what + " cpu_total");
      expect_near(found->device_self_ns, row["device_self_ns"], what + " device_self");
      if (!beside.around_requests.contains(key))
        expect_near(found->device_total_ns, row["device_total_ns"], what + " device_total");
      const std::int64_t self_ns = row["cpu_self_ns"];
      if (beside.requests_ns + beside.unprofiled_calls_ns == 0) expect_near(found->cpu_self_ns, self_ns, what + " cpu_self");
      EXPECT_GE(found->cpu_self_ns, self_ns - 2) << what;
      more_self_ns += std::max<std::int64_t>(0, found->cpu_self_ns - self_ns - 2);
      const bool may_hold_more = beside.unprofiled_calls_ns > 0 || beside.around_requests.contains(key);
      if (!may_hold_more) expect_near(found->cpu_self_ns, self_ns, what + " cpu_self");
    }
    EXPECT_LE(more_self_ns, beside.requests_ns + beside.unprofiled_calls_ns);
    // Of lists of tensors PyTorch's table has no shapes.
    const auto has_list = [](const OpRow& row) {
      return row.detail.find("[[[") != row.detail.npos || row.detail.find(", [[") != row.detail.npos;
    };
    const auto is_op = [&](const OpRow& row) { return row.is_op && !has_list(row); };
    EXPECT_GE(compared, static_cast<std::size_t>(std::ranges::count_if(ops.rows, is_op)));
  }
};

TEST_P(KeyAverages, OpsAreCountedAndTimedAsPyTorchDoes) {
  const std::string name = GetParam();
  const LoadedTrace loaded = load_file(path_to(name + ".json.gz"));
  const simdjson::padded_string text(json_of(path_to(name + ".tables.json.gz")));
  simdjson::dom::parser parser;
  simdjson::dom::element tables;
  ASSERT_EQ(parser.parse(text).get(tables), simdjson::SUCCESS);
  compare(loaded, tables["rows"], std::nullopt);
  simdjson::dom::array by_shape;
  if (tables["by_shape"].get(by_shape) == simdjson::SUCCESS) compare(loaded, by_shape, OpsBy::shape);
}

INSTANTIATE_TEST_SUITE_P(Recorded, KeyAverages, testing::ValuesIn(kPrograms),
                         [](const auto& program) { return std::string(program.param); });

}  // namespace
}  // namespace ridge::test
