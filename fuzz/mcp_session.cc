// Lines of any bytes to a session of `ridge mcp`: it answers in lines of JSON, within bounds, reads nothing but the trace below
// its root, and is there for the next one.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/access.h"
#include "mcp/json_value.h"
#include "mcp/line_reader.h"
#include "mcp/session.h"

namespace {

using namespace ridge;

constexpr std::string_view kMcpTrace = R"({"traceEvents": [
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9,"args":{"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":3,"args":{"correlation":4}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":6,"dur":20,"args":{"device":0,"stream":7,"correlation":4}}]})";

void insist(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// A folder with a trace, removed at the end.
struct McpRoot {
  char path[32] = "/tmp/ridge_fuzz_XXXXXX";
  std::unique_ptr<mcp::Access> access;

  McpRoot() {
    insist(::mkdtemp(path) != nullptr, "no temporary folder");
    std::ofstream(std::string(path) + "/t.json") << kMcpTrace;
    auto made = mcp::Access::make(std::string(path), {});
    insist(made.has_value(), "the folder cannot be read");
    access = std::make_unique<mcp::Access>(std::move(*made));
  }
  ~McpRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

void check_line(std::string_view line, std::string_view asked) {
  insist(line.ends_with('\n') && line.find('\n') == line.size() - 1, "an answer that is no line");
  insist(line.size() <= 2 * mcp::kMostAnswerBytes, "an answer that is too long");
  const auto json = mcp::parse_json(line.substr(0, line.size() - 1));
  insist(json && json->find("jsonrpc") != nullptr, "an answer that is no message");
  // Unless the question has the word itself: an answer may quote what it refuses.
  insist(line.find("root:") == std::string_view::npos || asked.find("root:") != std::string_view::npos,
         "a file of the machine");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const McpRoot root;
  const std::string_view asked(reinterpret_cast<const char*>(data), size);
  std::size_t answers = 0;
  mcp::SessionOptions options;
  options.workers = 0;
  options.open.threads = 1;
  options.open.named_files_only = true;
  mcp::Session session(*root.access, options, [&](std::string_view line) { ++answers, check_line(line, asked); });
  mcp::LineReader lines(mcp::kLongestLine);
  const auto line = [&](std::string_view text) { session.receive(text); };
  const auto too_long = [&] { session.refuse_long_line(); };
  lines.add(asked, line, too_long);
  lines.end(line, too_long);
  answers = 0;
  session.receive(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  insist(answers == 1, "no answer after all that");
  return 0;
}
