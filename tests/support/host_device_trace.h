// Hand-made traces of one process: slices of host threads, device work, memory events; times in ns. What the tests of idle time
// and memory are written with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/model.h"
#include "trace/trace.h"

namespace ridge::test {

class TraceText {
 public:
  TraceText& op(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int thread = 1);
  TraceText& annotation(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int thread = 1);
  TraceText& frame(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int thread = 1);
  // A runtime call; a correlation of 0 launches nothing.
  TraceText& call(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int correlation = 0, int thread = 1);
  TraceText& kernel(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int correlation, int stream = 7,
                    int device = 0);
  TraceText& copy(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int correlation, int stream = 7,
                  int device = 0);
  TraceText& memory(std::int64_t time_ns, std::int64_t bytes, std::int64_t addr, std::int64_t total, int device_type = 1,
                    int device = 0);

  std::unique_ptr<Trace> read() const;

 private:
  void slice(std::string_view cat, std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int pid, int tid,
             std::string_view args);
  std::string events_;
};

// A trace of a file; null and a failed test when it cannot be read.
std::unique_ptr<Trace> trace_at(const std::string& path);

}  // namespace ridge::test
