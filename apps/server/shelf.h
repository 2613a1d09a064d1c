// Shelf: the traces that a Site answers from. Either an engine that holds them all, or a job too large for that: its digests
// answer what is asked of all ranks together, and the trace of one rank is read when it is asked for and let go when others
// need the room. Copies share what they have open. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/engine.h>
#include <ridge/timeline.h>

namespace ridge::server {

class Shelf {
 public:
  // All traces of the engine, which must outlive the shelf.
  Shelf(const Engine& engine);  // NOLINT(google-explicit-constructor): an engine serves wherever a shelf does

  // The ranks of an engine of digests, which must outlive the shelf. `given`: the paths that may be read: a digest names its
  // trace, but who made the digest must not choose what is read here. `options` are those to open a trace with.
  static Result<Shelf> of_job(const Engine& digests, const std::vector<std::string>& given, OpenOptions options);

  struct Entry {
    std::string path;
    std::string_view state;  // closed: read when asked for; absent: only its digest is there
  };
  std::size_t trace_count() const;
  std::vector<Entry> entries() const;  // of a job; empty where an engine holds all
  bool holds_all() const;              // nothing has to be read

  // As Engine's. What is asked of a job without `trace` is asked of all ranks if the analysis is one of those, else of the
  // first.
  Result<std::shared_ptr<const Report>> kept_report(std::string_view analysis, const Arguments& arguments,
                                                    std::optional<std::size_t> trace = std::nullopt) const;
  Result<std::shared_ptr<const Timeline>> timeline(std::size_t trace, const Arguments& arguments) const;

 private:
  struct Job;
  explicit Shelf(std::shared_ptr<Job> job) : job_(std::move(job)) {}
  Result<std::shared_ptr<const Engine>> opened(std::size_t trace) const;

  const Engine* engine_ = nullptr;
  std::shared_ptr<Job> job_;  // null: the engine holds all
};

}  // namespace ridge::server
