// Each call appends one event's JSON.
#include "support/host_device_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ingest/reader.h"

namespace ridge::test {
namespace {

constexpr int kProcess = 500;

std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::unique_ptr<Trace> value_of(Result<std::unique_ptr<Trace>> result) {
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().message;
  return nullptr;
}

}  // namespace

void TraceText::slice(std::string_view cat, std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int pid, int tid,
                      std::string_view args) {
  events_ += fmt::format(
      R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      events_.empty() ? "" : ",\n", cat, name, pid, tid, microseconds(start_ns), microseconds(end_ns - start_ns), args);
}

TraceText& TraceText::op(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int thread) {
  slice("cpu_op", name, start_ns, end_ns, kProcess, thread, "");
  return *this;
}

TraceText& TraceText::annotation(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int thread) {
  slice("user_annotation", name, start_ns, end_ns, kProcess, thread, "");
  return *this;
}

TraceText& TraceText::frame(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int thread) {
  slice("python_function", name, start_ns, end_ns, kProcess, thread, "");
  return *this;
}

TraceText& TraceText::call(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int correlation, int thread) {
  slice("cuda_runtime", name, start_ns, end_ns, kProcess, thread,
        correlation == 0 ? "" : fmt::format(R"("correlation": {})", correlation));
  return *this;
}

TraceText& TraceText::kernel(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int correlation, int stream,
                             int device) {
  slice("kernel", name, start_ns, end_ns, device, stream,
        fmt::format(R"("device": {}, "stream": {}, "correlation": {})", device, stream, correlation));
  return *this;
}

TraceText& TraceText::copy(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, int correlation, int stream,
                           int device) {
  slice("gpu_memcpy", name, start_ns, end_ns, device, stream,
        fmt::format(R"("device": {}, "stream": {}, "correlation": {}, "bytes": 1024)", device, stream, correlation));
  return *this;
}

TraceText& TraceText::memory(std::int64_t time_ns, std::int64_t bytes, std::int64_t addr, std::int64_t total, int device_type,
                             int device) {
  events_ += fmt::format(
      R"({}{{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": {}, "tid": 1, "ts": {}, "args": {{"Total Reserved": 4096, "Total Allocated": {}, "Bytes": {}, "Device Id": {}, "Device Type": {}, "Addr": {}}}}})",
      events_.empty() ? "" : ",\n", kProcess, microseconds(time_ns), total, bytes, device, device_type, addr);
  return *this;
}

std::unique_ptr<Trace> TraceText::read() const {
  return value_of(read_trace_bytes("{\"traceEvents\": [" + events_ + "]}", "hand-made", {}));
}

std::unique_ptr<Trace> trace_at(const std::string& path) { return value_of(read_trace(path, {})); }

}  // namespace ridge::test
