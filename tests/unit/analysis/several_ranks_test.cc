// Ranks combined into one trace: what is asked of one device is what its rank alone says, and each rank goes by its own marks.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <ridge/engine.h>

#include "analysis/memory/memory.h"
#include "model/process_part.h"
#include "support/files.h"
#include "support/loaded_trace.h"
#include "support/table_rows.h"
#include "unit/rewrite/rewriting.h"

namespace ridge::test {
namespace {

// Parts combined and opened as a user would.
class Combined {
 public:
  explicit Combined(const std::vector<std::string>& parts) : path_(testing::TempDir() + "ridge_ranks_" + unique() + ".json") {
    std::ofstream(path_, std::ios::binary) << combined(parts);
  }
  ~Combined() { std::filesystem::remove(path_); }

  Report run(std::string_view analysis, const Arguments& arguments = {}) const { return report(path_, analysis, arguments); }
  static Report report(const std::string& path, std::string_view analysis, const Arguments& arguments = {}) {
    auto engine = Engine::open({path}, {});
    EXPECT_TRUE(engine.has_value());
    auto found = engine->run(analysis, arguments);
    EXPECT_TRUE(found.has_value()) << analysis;
    return found ? *found : Report{};
  }

 private:
  static std::string unique() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }
  std::string path_;
};

const Table& table_of(const Report& report, std::string_view name) {
  static const Table none;
  for (const Table& table : report.tables) {
    if (table.name == name) return table;
  }
  ADD_FAILURE() << "no table " << name;
  return none;
}

std::vector<Cell> column(const Table& table, std::string_view name) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].name != name) continue;
    std::vector<Cell> cells;
    for (const Row& row : rows_of(table)) cells.push_back(row[c]);
    return cells;
  }
  ADD_FAILURE() << "no column " << name;
  return {};
}

std::string path_in_fixtures(const std::string& name) { return test::source_dir() + "/tests/fixtures/" + name + ".json.gz"; }

std::vector<std::string> gloo_ranks() {
  std::vector<std::string> ranks;
  for (const char* rank : {"0", "1", "2", "3"}) ranks.push_back(fixture("ddp_gloo_rank" + std::string(rank)));
  return ranks;
}

// Events of any process, written one behind the other.
class Events {
 public:
  Events& slice(const char* cat, const std::string& name, int pid, int ts, int dur, const std::string& args = "") {
    return add("X", cat, name, pid, ts, "\"dur\": " + std::to_string(dur) + ", ", args);
  }
  Events& instant(const char* cat, const std::string& name, int pid, int ts, const std::string& args) {
    return add("i", cat, name, pid, ts, "", args);
  }
  // A launch by a process, and its kernel on a device.
  Events& launch(int pid, int device, int correlation, int ts) {
    const std::string id = "\"correlation\": " + std::to_string(correlation), on = std::to_string(device);
    slice("cuda_runtime", "cudaLaunchKernel", pid, ts, 5, id);
    return slice("kernel", "k", device, ts + 6, 20, id + ", \"device\": " + on + ", \"stream\": 7");
  }
  LoadedTrace read() const { return load_events(text_); }

 private:
  Events& add(const char* phase, const char* cat, const std::string& name, int pid, int ts, const std::string& more,
              const std::string& args) {
    text_ += (text_.empty() ? "{\"ph\": \"" : ", {\"ph\": \"") + std::string(phase) + "\", \"cat\": \"" + cat +
             "\", \"name\": \"" + name + "\", \"pid\": " + std::to_string(pid) + ", \"tid\": 7, \"ts\": " + std::to_string(ts) +
             ", " + more + "\"args\": {" + args + "}}";
    return *this;
  }
  std::string text_;
};

TEST(SeveralRanks, OneDeviceIsItsRankAlone) {
  const std::string path = path_in_fixtures("graph_breaks_stack"), bytes = fixture("graph_breaks_stack");
  const Combined twice({bytes, bytes});
  for (const char* analysis :
       {"summary", "kernels", "ops", "launches", "graphs", "breaks", "compile", "findings", "roofline"}) {
    const Report one = twice.run(analysis, {{"gpu", "0"}});
    const Report alone = Combined::report(path, analysis);
    ASSERT_EQ(one.tables.size(), alone.tables.size()) << analysis;
    for (std::size_t t = 0; t < one.tables.size(); ++t) {
      EXPECT_EQ(rows_of(one.tables[t]), rows_of(alone.tables[t])) << analysis << " " << one.tables[t].name;
    }
  }
}

TEST(SeveralRanks, EachGoesByItsOwnSteps) {
  Events events;  // the second process half a step later: its kernels belong to its own steps
  for (const int rank : {0, 1}) {
    for (int step = 0; step < 4; ++step) {
      const int start = 1000 * step + 500 * rank;
      events.slice("user_annotation", "ProfilerStep#" + std::to_string(step), 100 + rank, start, 900);
      for (int k = 0; k < 5; ++k) events.launch(100 + rank, rank, 1 + rank * 1000 + step * 10 + k, start + 100 + 150 * k);
    }
  }
  const LoadedTrace loaded = events.read();
  const Iterations& iterations = loaded.model->iterations();
  ASSERT_EQ(iterations.rule, IterationRule::profiler_step);
  ASSERT_EQ(iterations.list.size(), 4U);
  std::vector<int> counts(4);
  for (std::size_t row = 0; row < loaded.trace->of(EventClass::device_work).size(); ++row) {
    const auto at = iteration_of_work(*loaded.trace, loaded.model->tree(), loaded.model->links(), iterations, row);
    ASSERT_TRUE(at.has_value());
    ++counts[*at];
  }
  EXPECT_EQ(counts, (std::vector<int>{10, 10, 10, 10}));
  for (const char* gpu : {"0", "1"}) {
    for (const char* step : {"0", "1", "2", "3"}) {
      auto scope = make_scope(*loaded.model, {{"gpu", gpu}, {"step", step}});
      ASSERT_TRUE(scope.has_value());
      int held = 0;
      for (std::size_t row = 0; row < loaded.trace->of(EventClass::device_work).size(); ++row) held += scope->holds_work(row);
      EXPECT_EQ(held, 10) << "step " << step;
    }
  }
}

TEST(SeveralRanks, OptimizerStepsAreEachRanksOwn) {
  const Report info = Combined(gloo_ranks()).run("info");
  const std::vector<Cell> events = column(table_of(info, "iterations"), "device_events");
  ASSERT_EQ(events.size(), 4U);
  for (const Cell& cell : events) EXPECT_EQ(cell, Cell(std::int64_t{252}));
}

TEST(SeveralRanks, AProfilerHoldsUpItsOwnProgram) {
  const Report one = Combined(gloo_ranks()).run("findings", {{"gpu", "0"}});
  const Report alone = Combined::report(path_in_fixtures("ddp_gloo_rank0"), "findings");
  EXPECT_EQ(column(table_of(one, "findings"), "at_most_ns"), column(table_of(alone, "findings"), "at_most_ns"));
}

TEST(SeveralRanks, FindingsDoNotDependOnTheirNumber) {
  const std::string bytes = fixture("fault_optimizer_loop");
  const Report twice = Combined({bytes, bytes}).run("findings");
  const Report alone = Combined::report(path_in_fixtures("fault_optimizer_loop"), "findings");
  for (const char* name : {"id", "at_most_ns", "finding"}) {
    EXPECT_EQ(column(table_of(twice, "findings"), name), column(table_of(alone, "findings"), name)) << name;
  }
}

TEST(SeveralRanks, HostMemoryIsEachProcesssOwn) {
  struct Step {
    int address, bytes, total;
  };
  constexpr Step kSteps[] = {{64, 1000, 1000}, {128, 1000, 2000}, {64, -1000, 1000}, {128, -1000, 0}};
  Events events;
  for (const int pid : {100, 200}) {
    events.slice("cpu_op", "aten::add", pid, 5, 50);
    int ts = 10;
    for (const Step& step : kSteps) {
      events.instant("cpu_instant_event", "[memory]", pid, ts += 10,
                     "\"Device Type\": 0, \"Device Id\": -1, \"Addr\": " + std::to_string(step.address) +
                         ", \"Bytes\": " + std::to_string(step.bytes) + ", \"Total Allocated\": " + std::to_string(step.total));
    }
  }
  const LoadedTrace loaded = events.read();
  const Memory memory = compute_memory(Scope(*loaded.model));
  ASSERT_EQ(memory.devices.size(), 2U);
  for (const MemoryDevice& device : memory.devices) {
    EXPECT_EQ(device.peak_bytes, 2000) << device.device;
    ASSERT_EQ(device.ops.size(), 1U) << device.device;
    EXPECT_EQ(device.ops[0].op, "aten::add");
  }
  EXPECT_EQ(memory.devices[0].device, "cpu of process 100");
}

TEST(SeveralRanks, OneProgramOnTwoDevicesIsWhole) {
  const LoadedTrace one = Events().launch(100, 0, 1, 10).launch(100, 1, 2, 20).read();
  EXPECT_FALSE(tracks_of_device(*one.model, 0).has_value());
  const LoadedTrace two = Events().launch(100, 0, 1, 10).launch(200, 1, 2, 20).read();
  const auto kept = tracks_of_device(*two.model, 0);
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(std::count(kept->begin(), kept->end(), true), 2);  // its process and its stream
}

}  // namespace
}  // namespace ridge::test
