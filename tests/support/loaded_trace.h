// A trace with its model, from a file or from events written by hand.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "ingest/reader.h"
#include "model/model.h"
#include "support/files.h"
#include "support/trace_lines.h"

namespace ridge::test {

struct LoadedTrace {
  std::unique_ptr<Trace> trace;
  std::unique_ptr<Model> model;

  explicit LoadedTrace(std::unique_ptr<Trace> t) : trace(std::move(t)), model(std::make_unique<Model>(*trace)) {}
};

inline LoadedTrace load_events(std::string_view events) { return LoadedTrace(read_ok(trace_of(events))); }

// The path of a trace of that name in tests/fixtures or in ../shared/traces; nothing where it is absent.
inline std::optional<std::string> path_of(const std::string& name) {
  for (const char* folder : {"tests/fixtures", "../shared/traces/h200", "../shared/traces/faults", "../shared/traces/public"}) {
    const std::string path = test::source_dir() + "/" + folder + "/" + name + ".json.gz";
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

inline LoadedTrace load_file(const std::string& path) {
  auto trace = read_trace(path, {});
  EXPECT_TRUE(trace.has_value()) << path;
  return LoadedTrace(trace ? std::move(*trace) : std::make_unique<Trace>());
}

// One event of a host thread; times in microseconds.
struct Slice {
  std::string_view name;
  int ts = 0;
  int dur = 0;
  std::string_view cat = "cpu_op";
  std::string_view args = "";
  int tid = 1;
};

inline std::string event(const Slice& s) {
  return "{\"ph\": \"X\", \"cat\": \"" + std::string(s.cat) + "\", \"name\": \"" + std::string(s.name) +
         "\", \"pid\": 1, \"tid\": " + std::to_string(s.tid) + ", \"ts\": " + std::to_string(s.ts) +
         ", \"dur\": " + std::to_string(s.dur) + ", \"args\": {" + std::string(s.args) + "}}";
}

// A launch call and the kernel that it starts.
inline std::string launch(int correlation, int ts, int dur, std::string_view kernel, int kernel_ts, int kernel_dur,
                          std::string_view call = "cudaLaunchKernel", int tid = 1) {
  const std::string id = "\"correlation\": " + std::to_string(correlation);
  return event({.name = call, .ts = ts, .dur = dur, .cat = "cuda_runtime", .args = id, .tid = tid}) + ", " +
         event({.name = kernel,
                .ts = kernel_ts,
                .dur = kernel_dur,
                .cat = "kernel",
                .args = id + ", \"device\": 0, \"stream\": 7",
                .tid = 7});
}

inline std::string join(std::initializer_list<std::string> events) {
  std::string all;
  for (const std::string& e : events) all += (all.empty() || e.empty() ? "" : ", ") + e;
  return all;
}

}  // namespace ridge::test
