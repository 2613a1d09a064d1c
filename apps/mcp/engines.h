// Engines: the traces that were asked about, kept open, within a number and half of the memory that one trace may take. The
// least recently used go first; who works on one still has it. A trace that was written anew is read anew. Calls that want the
// same traces at one time wait for one reading. Thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <condition_variable>

#include <ridge/engine.h>
#include <ridge/result.h>

#include "access.h"
#include "call.h"

namespace ridge::mcp {

class Engines {
 public:
  // `options`: threads, limits and places of every engine.
  explicit Engines(OpenOptions options, std::size_t most = 4) : options_(std::move(options)), most_(most) {}

  // `captures`: of each trace in turn; one without a file is none.
  Result<std::shared_ptr<const Engine>> get(const std::vector<OpenTrace>& traces, const std::vector<OpenTrace>& captures,
                                            Call& call);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Engine> engine;  // null: it is being read
  };
  using Entries = std::list<Entry>;  // the most recently used first

  Result<std::shared_ptr<const Engine>> read(const std::vector<OpenTrace>& traces, const std::vector<OpenTrace>& captures,
                                             Call& call) const;
  void trim();

  const OpenOptions options_;
  const std::size_t most_;
  std::mutex mutex_;  // guards the entries
  std::condition_variable changed_;
  Entries entries_;
};

}  // namespace ridge::mcp
