// Queries from any bytes on a small trace: never a crash, never more time, memory or rights than they are given.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "facts/scope.h"
#include "ingest/reader.h"
#include "model/model.h"
#include "sql/run_sql.h"

namespace {

using namespace ridge;

constexpr std::string_view kTrace = R"({"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":100,"args":{"External id":7,"Input Dims":[[2,3],[3,4]],"x":null,"f":1.5}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":20,"dur":200},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":30,"dur":5,"args":{"correlation":3}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":40,"dur":50,"args":{"correlation":3,"device":0,"stream":7,"External id":7}},
{"ph":"s","cat":"ac2g","name":"ac2g","id":3,"pid":1,"tid":1,"ts":30},
{"ph":"f","cat":"ac2g","name":"ac2g","id":3,"pid":0,"tid":7,"ts":40,"bp":"e"},
{"ph":"C","name":"mem","pid":1,"tid":1,"ts":10,"args":{"a":5}},
{"ph":"i","name":"mark","pid":"p","tid":"t","ts":42,"s":"g"}
]})";

struct Fixture {
  std::unique_ptr<Trace> trace = std::move(*read_trace_bytes(kTrace, "fuzz", {}));
  Model model{*trace};
  Scope scope{model};
};

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Fixture fixture;
  const std::string_view query(reinterpret_cast<const char*>(data), size);
  const auto began = std::chrono::steady_clock::now();
  const auto answer = sql::answer_query(fixture.scope, query, {{"max_seconds", "0.5"}, {"max_memory", "50000000"}});
  require(std::chrono::steady_clock::now() - began < std::chrono::seconds(60));  // also under sanitizers on a busy machine
  if (!answer) {
    require(!answer.error().message.empty());
    return 0;
  }
  for (const Column& column : answer->columns) require(column.size() == answer->size());
  // The same again: a query changes nothing.
  const auto again = sql::answer_query(fixture.scope, query, {{"max_seconds", "5"}, {"max_memory", "50000000"}});
  require(!again || again->columns.size() == answer->columns.size());
  return 0;
}
