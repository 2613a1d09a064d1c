// The least recently asked trace goes first; one reads at a time, while answers from open traces go on.
#include "shelf.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <set>

#include <fmt/format.h>

namespace ridge::server {
namespace {

constexpr std::size_t kMostOpen = 32;                         // as many as a timeline stacks
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // where the machine's memory is not known
constexpr std::size_t kShareOfMemory = 2;                     // else that part of what a trace may take

}  // namespace

struct Shelf::Job {
  const Engine& digests;
  OpenOptions options;
  std::vector<Entry> ranks;

  struct Held {
    std::size_t trace;
    std::shared_ptr<const Engine> engine;
  };
  std::mutex reading;         // one trace at a time
  std::mutex mutex;           // guards what follows
  std::list<Held> held = {};  // the most recently asked first

  std::shared_ptr<const Engine> find(std::size_t trace) {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find(held, trace, &Held::trace);
    if (found == held.end()) return nullptr;
    held.splice(held.begin(), held, found);
    return held.front().engine;
  }
  void keep(std::size_t trace, std::shared_ptr<const Engine> engine) {
    const std::uint64_t most = options.max_memory > 0 ? options.max_memory / kShareOfMemory : kMostBytes;
    const std::lock_guard lock(mutex);
    held.push_front({trace, std::move(engine)});
    std::uint64_t bytes = 0;
    std::size_t kept = 0;
    for (auto it = held.begin(); it != held.end();) {
      bytes += it->engine->memory_bytes();
      const bool stays = kept == 0 || (kept < kMostOpen && bytes <= most);
      kept += stays ? 1 : 0;
      it = stays ? std::next(it) : held.erase(it);
    }
  }
};

Shelf::Shelf(const Engine& engine) : engine_(&engine) {}

Result<Shelf> Shelf::of_job(const Engine& digests, const std::vector<std::string>& given, OpenOptions options) {
  const auto report = digests.kept_report("ranks", {});
  if (!report) return tl::unexpected(report.error());
  options.digests_only = false;
  options.progress = {};
  auto job = std::make_shared<Job>(digests, std::move(options));
  const std::set<std::string> readable(given.begin(), given.end());
  for (const TraceRef& trace : (*report)->traces)
    job->ranks.push_back({trace.path, readable.contains(trace.path) ? "closed" : "absent"});
  return Shelf(std::move(job));
}

std::size_t Shelf::trace_count() const { return job_ ? job_->ranks.size() : engine_->trace_count(); }

bool Shelf::holds_all() const { return job_ == nullptr; }

std::vector<Shelf::Entry> Shelf::entries() const { return job_ ? job_->ranks : std::vector<Entry>(); }

Result<std::shared_ptr<const Engine>> Shelf::opened(std::size_t trace) const {
  if (trace >= job_->ranks.size()) return fail(ErrorCode::usage, fmt::format("no trace with index {}", trace));
  if (auto held = job_->find(trace)) return held;
  const Entry& entry = job_->ranks[trace];
  if (entry.state == "absent") {
    return fail(ErrorCode::usage, fmt::format("{} is not here, only its digest", entry.path), "",
                "serve the folder of the traces instead");
  }
  const std::lock_guard lock(job_->reading);
  if (auto held = job_->find(trace)) return held;  // somebody else has read it meanwhile
  auto engine = Engine::open({entry.path}, job_->options);
  if (!engine) return tl::unexpected(engine.error());
  auto shared = std::make_shared<const Engine>(std::move(*engine));
  job_->keep(trace, shared);
  return shared;
}

Result<std::shared_ptr<const Report>> Shelf::kept_report(std::string_view analysis, const Arguments& arguments,
                                                         std::optional<std::size_t> trace) const {
  if (!job_) return engine_->kept_report(analysis, arguments, trace);
  const auto all = analyses();
  const auto info = std::ranges::find(all, analysis, &AnalysisInfo::name);
  if (info == all.end() || !info->needs_trace || info->whole_job)
    return job_->digests.kept_report(analysis, arguments, std::nullopt);
  return opened(trace.value_or(0)).and_then([&](const std::shared_ptr<const Engine>& engine) {
    return engine->kept_report(analysis, arguments, std::nullopt);
  });
}

Result<std::shared_ptr<const Timeline>> Shelf::timeline(std::size_t trace, const Arguments& arguments) const {
  if (!job_) return engine_->timeline(trace, arguments);
  return opened(trace).and_then([&](const std::shared_ptr<const Engine>& engine) { return engine->timeline(0, arguments); });
}

}  // namespace ridge::server
