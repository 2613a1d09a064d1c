// Generated kernels of recorded programs, against hardware counters, PyTorch's FLOP counts and the kernels' own sources. The
// recordings lie beside the repository; where they are absent, these tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include "cost/triton/kernel_source.h"
#include "cost/triton/triton_cost.h"
#include "support/files.h"
#include "support/loaded_trace.h"
#include "trace/tables.h"

namespace ridge {
namespace {

const std::string kFolder = test::source_dir() + "/tests/fixtures/";

// Everything the trace tells about one launch of a generated kernel.
struct Recorded {
  std::string_view kernel, file, hash, kwargs;
  OpCall call;
  const KernelIdentity* identity = nullptr;
  std::optional<double> flop, num_gb;
  std::optional<Dim3> grid;
  std::int64_t duration_ns = 0;

  LaunchCost cost(bool counted = true, const std::string* source = nullptr) const {
    TritonLaunch launch;
    launch.kernel = kernel;
    launch.call = &call;
    launch.identity = identity;
    launch.kernel_kwargs = kwargs;
    launch.grid = grid;
    launch.source = source;
    if (counted) launch.kernel_flop = flop, launch.kernel_num_gb = num_gb;
    return triton_cost(launch);
  }
};

class Recording {
 public:
  explicit Recording(const std::string& name) : loaded_(test::load_file(test::path_of(name).value_or(""))) {
    const Trace& trace = *loaded_.trace;
    const DeviceWorkTable work = device_work(trace);
    const OpTable table = ops(trace);
    const auto text = [&](const ArgColumn& column, EventId event) {
      const auto id = column.text(event);
      return id ? trace.text(*id) : std::string_view();
    };
    std::vector<std::size_t> rows(work.events.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return trace.events.ts_ns(work.events[a]) < trace.events.ts_ns(work.events[b]);
    });
    for (const std::size_t row : rows) {
      const KernelIdentity& identity = loaded_.model->identities()[row];
      if (!is_triton(identity.category)) continue;
      Recorded one;
      one.kernel = trace.text(trace.events.name(work.events[row]));
      one.identity = &identity;
      one.duration_ns = trace.events.dur_ns(work.events[row]).value_or(0);
      one.grid = parse_dim3(text(work.grid, work.events[row]));
      const NodeId node = loaded_.model->links().op[row];
      if (node != kNoNode) {
        const EventId op = loaded_.model->tree().event[node.value];
        one.call = parse_op_call(trace.text(trace.events.name(op)), text(table.input_dims, op), text(table.input_type, op),
                                 text(table.input_strides, op), text(table.concrete_inputs, op));
        one.file = text(table.kernel_file, op);
        one.hash = text(table.kernel_hash, op);
        one.kwargs = text(table.kernel_kwargs, op);
        one.flop = table.kernel_flop.number(op);
        one.num_gb = table.kernel_num_gb.number(op);
      }
      launches.push_back(std::move(one));
    }
  }

  std::vector<Recorded> launches;  // in order of start

 private:
  test::LoadedTrace loaded_;
};

bool have(const std::string& name) { return test::path_of(name).has_value(); }

// dram__bytes_read.sum of each kernel, in order of launch.
std::vector<std::pair<std::string, double>> counted_reads() {
  std::vector<std::pair<std::string, double>> out;
  std::istringstream lines(test::json_of(kFolder + "inductor_memory_kernels.ncu.csv.gz"));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("dram__bytes_read.sum") == std::string::npos) continue;
    std::vector<std::string> fields;
    for (std::size_t at = line.find('"'); at != std::string::npos; at = line.find('"', at + 1)) {
      const std::size_t end = line.find('"', at + 1);
      fields.push_back(line.substr(at + 1, end - at - 1));
      at = end;
    }
    std::erase(fields.back(), ',');
    out.emplace_back(fields.at(4), std::stod(fields.back()));
  }
  return out;
}

// The files of a tar archive, by base name.
std::map<std::string, std::string> files_of_tar(const std::string& tar) {
  std::map<std::string, std::string> out;
  for (std::size_t at = 0; at + 512 <= tar.size() && tar[at] != '\0';) {
    const std::string name = tar.substr(at, 100).c_str();
    const std::size_t size = std::stoul(tar.substr(at + 124, 11), nullptr, 8);
    if (tar[at + 156] == '0') out[name.substr(name.rfind('/') + 1)] = tar.substr(at + 512, size);
    at += 512 + (size + 511) / 512 * 512;
  }
  return out;
}

std::map<std::string, std::string> kernel_files() { return files_of_tar(test::json_of(kFolder + "kernel_files.tar.gz")); }

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

TEST(TritonTraces, ReadBytesAgainstCounters) {
  if (!have("inductor_memory_kernels")) GTEST_SKIP() << "no such trace here";
  const Recording recording("inductor_memory_kernels");
  const auto reads = counted_reads();
  ASSERT_EQ(recording.launches.size(), reads.size());
  for (const bool counted : {true, false}) {
    double all = 0, within = 0;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const Recorded& launch = recording.launches[i];
      ASSERT_EQ(launch.kernel, reads[i].first);
      const LaunchCost cost = launch.cost(counted);
      ASSERT_TRUE(cost.bytes_read) << launch.kernel;
      const double off = std::abs(*cost.bytes_read - reads[i].second);
      const bool good = off <= std::max(0.1 * reads[i].second, 65536.0);
      all += static_cast<double>(launch.duration_ns);
      within += good ? static_cast<double>(launch.duration_ns) : 0;
      if (good) continue;
      EXPECT_EQ(cost.estimate, Estimate::ambiguous) << launch.kernel;
      std::printf("missed: %s reads %.0f, counted %.0f\n", std::string(launch.kernel).c_str(), *cost.bytes_read,
                  reads[i].second);
    }
    EXPECT_GE(within / all, 0.90);
  }
}

// What the shapes tell must be what the source says, with and without Inductor's count: 39 kernels whose sources are at hand.
TEST(TritonTraces, ShapesAgreeWithSources) {
  if (!have("inductor_kernel_kinds")) GTEST_SKIP() << "no such trace here";
  const auto files = kernel_files();
  // The module's trace is too large for the repository: its source stands beside it, where it is.
  const bool whole_module = have("inductor_module_p");
  const std::string module =
      whole_module ? test::contents(test::source_dir() + "/../shared/traces/h200/inductor_module_p.py") : "";
  int kernels = 0;
  for (const char* name : {"inductor_module_p", "inductor_kernel_kinds", "inductor_memory_kernels"}) {
    std::map<std::string_view, bool> seen;
    if (!have(name)) continue;
    const Recording recording(name);
    for (const Recorded& launch : recording.launches) {
      if (std::exchange(seen[launch.call.op], true)) continue;
      const bool in_module = std::string_view(name) == "inductor_module_p";
      const auto file = files.find(base_name(launch.file));
      if (!in_module && file == files.end()) continue;
      const LaunchCost source = launch.cost(true, in_module ? &module : &file->second);
      ASSERT_EQ(source.estimate, Estimate::source) << launch.call.op;
      for (const bool counted : {true, false}) {
        const LaunchCost shapes = launch.cost(counted);
        EXPECT_EQ(shapes.bytes_read, source.bytes_read) << launch.call.op;
        EXPECT_EQ(shapes.bytes_written, source.bytes_written) << launch.call.op;
      }
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, whole_module ? 39 : 17);
}

TEST(TritonTraces, HashesOfSources) {
  if (!have("inductor_kernel_kinds")) GTEST_SKIP() << "no such trace here";
  const auto files = kernel_files();
  std::map<std::string, bool> seen;
  for (const char* name : {"inductor_kernel_kinds", "inductor_memory_kernels"}) {
    const Recording recording(name);
    for (const Recorded& launch : recording.launches) {
      const auto file = files.find(base_name(launch.file));
      if (file == files.end()) continue;
      EXPECT_EQ(match_source(file->second, launch.hash), SourceMatch::matches) << launch.call.op;
      EXPECT_EQ(match_source(file->second + "#", launch.hash), SourceMatch::differs);
      seen[file->first] = true;
    }
  }
  EXPECT_EQ(seen.size(), 12U);
}

// PyTorch counted 3,628,745,856 for the same program in eager mode (omni_eager_half.flops.json).
TEST(TritonTraces, TemplatesHaveTheFlopsOfTheEagerProgram) {
  if (!have("omni_maxautotune_triton_half")) GTEST_SKIP() << "no such trace here";
  const Recording recording("omni_maxautotune_triton_half");
  for (const bool counted : {true, false}) {
    double flops = 0;
    for (const Recorded& launch : recording.launches) flops += launch.cost(counted).flops.value_or(NAN);
    EXPECT_EQ(flops, 3628745856.0);
  }
}

TEST(TritonTraces, EveryLaunchWithShapesHasBytes) {
  for (const char* name : {"gpt_compiled_train", "resnet18_compiled_stack_mem", "inductor_module_p", "flex_attention_compiled",
                           "triton_short_names", "mlp_profiler_steps", "graph_breaks_stack", "compiled_with_fallbacks"}) {
    if (!have(name)) continue;
    const Recording recording(name);
    EXPECT_FALSE(recording.launches.empty()) << name;
    for (const Recorded& launch : recording.launches) {
      const LaunchCost cost = launch.cost();
      EXPECT_TRUE(cost.bytes_read && cost.bytes_written && cost.flops) << name << " " << launch.call.op;
      EXPECT_NE(cost.dtype, DType::unknown) << name << " " << launch.call.op;
    }
  }
}

TEST(TritonTraces, WithoutShapesNothingIsClaimed) {
  for (const char* name : {"resnet18_compiled", "densenet121_bs1_cudagraph", "user_triton_kernel"}) {
    if (!have(name)) continue;
    const Recording recording(name);
    EXPECT_FALSE(recording.launches.empty()) << name;
    for (const Recorded& launch : recording.launches) {
      const LaunchCost cost = launch.cost();
      EXPECT_FALSE(cost.bytes_read || cost.bytes_written || cost.flops) << name << " " << launch.kernel;
      EXPECT_EQ(cost.estimate, Estimate::none);
    }
  }
}

}  // namespace
}  // namespace ridge
