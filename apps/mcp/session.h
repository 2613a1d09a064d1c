// Session: the Model Context Protocol, message by message, whatever carries them. It speaks two generations of the protocol:
// the one that begins with `initialize` (up to 2025-11-25), and the one whose every request tells its version (2026-07-28).
//
// receive() answers at once what needs no trace; calls of tools go to a few threads and are answered when they are done, in any
// order. A few run at a time; one that has waited for `patience` begins beside them, so that slow ones do not hold up the rest.
// Memory is bounded: a line has at most kLongestLine bytes, at most kMostWaiting calls wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <condition_variable>

#include "message.h"
#include "toolbox.h"

namespace ridge::mcp {

struct SessionOptions {
  OpenOptions open = {};          // threads and limits
  Arguments defaults = {};        // what every question is asked with
  std::size_t workers = 2;        // calls at a time; 0: a call is answered before receive() returns
  std::size_t spare_workers = 6;  // for calls that waited longer than this
  std::chrono::milliseconds patience{1000};
  std::chrono::milliseconds progress_every{250};
};

class Session {
 public:
  using Send = std::function<void(std::string_view line)>;  // from one thread at a time
  static constexpr std::size_t kMostWaiting = 64;

  // `access` must outlive it.
  Session(const Access& access, SessionOptions options, Send send);
  ~Session();  // drops what waits, cancels what runs
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void receive(std::string_view line);  // without its newline
  void refuse_long_line();              // in place of a line that was too long to keep
  void finish();                        // nothing more will come: returns when all calls are answered

 private:
  struct Era {
    bool modern = false;  // every request tells its version
    bool structured = true;
  };
  struct Job {
    std::shared_ptr<Call> call;
    const Tool* tool = nullptr;
    JsonValue params;
    Era era;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  };
  struct Method;

  void send(const std::string& line);
  void answer(const Message& message);
  tl::expected<Era, RpcError> era_of(const Message& message) const;
  void cancel(const JsonValue& params);

  // The members of a result; nothing where it will be answered later.
  using Answer = tl::expected<std::string, RpcError>;
  Answer initialize(const Message& message, const Era& era);
  Answer discover(const Message& message, const Era& era);
  Answer ping(const Message& message, const Era& era);
  Answer list_tools(const Message& message, const Era& era);
  Answer call_tool(const Message& message, const Era& era);
  static const Method* find_method(std::string_view name);

  void run(const Job& job);
  void work();
  bool may_begin() const;  // the first that waits, with the lock held
  std::function<void(const Progress&)> reporter(const JsonValue& params, const std::shared_ptr<Call>& call);

  const SessionOptions options_;
  const Send send_;
  Toolbox toolbox_;
  std::mutex sending_;
  bool structured_ = true;  // of the first generation: what was agreed on; only receive() touches it

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::size_t running_ = 0;
  std::vector<std::shared_ptr<Call>> under_way_;  // waiting ones too
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ridge::mcp
