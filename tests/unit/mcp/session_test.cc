// What depends on time in a session: a reading tells its progress, stops when it is cancelled, and the next call is answered.
#include "mcp/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <condition_variable>

#include <fmt/format.h>

namespace ridge::mcp {
namespace {

// A folder with a trace of some megabytes.
struct LongTrace {
  std::string folder = (std::filesystem::temp_directory_path() / "ridge-mcp-XXXXXX").string();
  ~LongTrace() { std::filesystem::remove_all(folder); }
  LongTrace() {
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    std::ofstream file(folder + "/long.json");
    file << R"({"traceEvents":[)";
    for (int i = 0; i < 60'000; ++i) {
      file
          << (i == 0 ? "" : ",")
          << fmt::format(
                 R"({{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":7,"ts":{},"dur":2,"args":{{"device":0,"stream":7}}}})",
                 i % 100, 3 * i);
    }
    file << "]}";
  }
};

std::string call_line(int id, std::string_view tool, std::string_view arguments) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}","arguments":{},"_meta":{{"progressToken":"p"}}}}}})",
      id, tool, arguments);
}

SessionOptions at_once(std::size_t workers) {
  SessionOptions options;
  options.workers = workers;
  options.progress_every = std::chrono::milliseconds(0);
  options.open.threads = 1;
  return options;
}

TEST(Session, AReadingTellsHowFarItIs) {
  const LongTrace trace;
  const auto access = Access::make(trace.folder, {});
  ASSERT_TRUE(access);
  std::vector<std::int64_t> told;
  bool answered = false;
  Session session(*access, at_once(0), [&](std::string_view line) {
    const auto message = parse_json(line);
    ASSERT_TRUE(message);
    if (const JsonValue* params = message->find("params")) {
      EXPECT_FALSE(answered);
      EXPECT_EQ(*params->find("progressToken")->text(), "p");
      told.push_back(*params->find("progress")->integer());
    }
    answered = answered || message->find("result") != nullptr;
  });
  session.receive(call_line(1, "info", R"({"trace":"long.json"})"));
  EXPECT_TRUE(answered);
  EXPECT_GE(told.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(told, std::ranges::less_equal())) << "progress must grow";
}

TEST(Session, ACancelledReadingIsStoppedAndNotAnswered) {
  const LongTrace trace;
  const auto access = Access::make(trace.folder, {});
  ASSERT_TRUE(access);
  std::vector<std::string> answers;
  Session* running = nullptr;
  bool cancelled = false;
  Session session(*access, at_once(1), [&](std::string_view line) {
    if (line.find("notifications/progress") == line.npos) {
      answers.emplace_back(line.substr(0, line.find(R"(,"result")")));
    } else if (!cancelled) {
      cancelled = true;
      running->receive(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    }
  });
  running = &session;
  session.receive(call_line(1, "info", R"({"trace":"long.json"})"));
  session.receive(call_line(2, "info", R"({"trace":"long.json"})"));
  session.finish();
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(answers, std::vector<std::string>{R"({"jsonrpc":"2.0","id":2)"});
}

constexpr std::string_view kEndless =
    R"({"trace":"long.json","query":"with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"})";

std::string cancel_line(int id) {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}})", id);
}

// Two queries that would take a minute each take up both workers: the next call is answered meanwhile, and none of them goes on
// once it is cancelled, whether it had begun or not.
TEST(Session, SlowCallsHoldUpNobodyAndEndWhenCancelled) {
  const LongTrace trace;
  const auto access = Access::make(trace.folder, {});
  ASSERT_TRUE(access);
  std::vector<std::string> answers;
  std::mutex mutex;
  std::condition_variable answered;
  SessionOptions options = at_once(2);
  options.spare_workers = 1;
  options.patience = std::chrono::milliseconds(20);
  Session session(*access, options, [&](std::string_view line) {
    if (line.find("notifications/progress") != line.npos) return;
    const std::scoped_lock lock(mutex);
    answers.emplace_back(line.substr(0, line.find(R"(,"result")")));
    answered.notify_all();
  });
  session.receive(call_line(1, "sql", kEndless));
  session.receive(call_line(2, "sql", kEndless));
  session.receive(call_line(3, "info", R"({"trace":"long.json"})"));
  {
    std::unique_lock lock(mutex);
    answered.wait(lock, [&] { return !answers.empty(); });
  }
  for (const int id : {4, 5}) session.receive(call_line(id, "sql", kEndless));  // at most one of them may begin
  for (const int id : {1, 2, 4, 5}) session.receive(cancel_line(id));
  session.finish();
  EXPECT_EQ(answers, std::vector<std::string>{R"({"jsonrpc":"2.0","id":3)"});
}

}  // namespace
}  // namespace ridge::mcp
