// Reading traces through the descriptors that Access opened, and keeping what was read.
#include "engines.h"

#include <algorithm>
#include <chrono>

namespace ridge::mcp {
namespace {

constexpr std::chrono::milliseconds kGlance{50};  // how long a cancelled call may wait for another's reading

std::string key_of(const std::vector<OpenTrace>& traces, const std::vector<OpenTrace>& captures) {
  std::string key;
  for (const auto* files : {&traces, &captures}) {
    for (const OpenTrace& each : *files) key += each.path + '\n' + each.state + '\n';
    key += '\n';
  }
  return key;
}

// The engine knows descriptors where a client knows names.
std::string with_names(std::string text, const std::vector<OpenTrace>& files) {
  for (const OpenTrace& each : files) {
    if (!each.file.is_open()) continue;
    const std::string descriptor = each.descriptor_path();
    for (std::size_t at = 0; (at = text.find(descriptor, at)) != std::string::npos; at += each.name.size())
      text.replace(at, descriptor.size(), each.name);
  }
  return text;
}

}  // namespace

Result<std::shared_ptr<const Engine>> Engines::read(const std::vector<OpenTrace>& traces,
                                                    const std::vector<OpenTrace>& captures, Call& call) const {
  OpenOptions options = options_;
  std::vector<std::string> paths;
  for (const OpenTrace& each : traces) {
    paths.push_back(each.descriptor_path());
    options.names.push_back(each.path);
  }
  for (const OpenTrace& each : captures) options.captures.push_back(each.file.is_open() ? each.descriptor_path() : "-");
  options.progress = [&call](const Progress& progress) {
    if (call.progress) call.progress(progress);
    return !call.cancelled;
  };
  auto engine = Engine::open(paths, options);
  if (engine) return std::make_shared<const Engine>(std::move(*engine));
  Error error = std::move(engine.error());
  for (const auto* files : {&traces, &captures}) {
    error.message = with_names(std::move(error.message), *files);
    error.where = with_names(std::move(error.where), *files);
    error.hint = with_names(std::move(error.hint), *files);
  }
  return tl::unexpected(std::move(error));
}

void Engines::trim() {
  std::uint64_t bytes = 0;
  for (const Entry& each : entries_) bytes += each.engine != nullptr ? each.engine->memory_bytes() : 0;
  const auto too_much = [&] {
    return entries_.size() > most_ || (options_.max_memory != 0 && bytes > options_.max_memory / 2);
  };
  for (auto it = entries_.end(); it != std::next(entries_.begin()) && too_much();) {  // never the one that was just read
    --it;
    if (it->engine == nullptr) continue;
    bytes -= std::min(bytes, it->engine->memory_bytes());
    it = entries_.erase(it);
  }
}

Result<std::shared_ptr<const Engine>> Engines::get(const std::vector<OpenTrace>& traces, const std::vector<OpenTrace>& captures,
                                                   Call& call) {
  const std::string key = key_of(traces, captures);
  std::unique_lock lock(mutex_);
  Entries::iterator entry;
  for (;;) {
    if (call.cancelled) return fail(ErrorCode::interrupted, "cancelled");
    entry = std::ranges::find(entries_, key, &Entry::key);
    if (entry == entries_.end()) break;
    if (entry->engine != nullptr) {
      entries_.splice(entries_.begin(), entries_, entry);
      return entry->engine;
    }
    changed_.wait_for(lock, kGlance);
  }
  entries_.push_front({key, nullptr});
  entry = entries_.begin();
  lock.unlock();
  auto engine = read(traces, captures, call);
  lock.lock();
  if (engine) {
    entry->engine = *engine;
    trim();
  } else {
    entries_.erase(entry);
  }
  changed_.notify_all();
  return engine;
}

}  // namespace ridge::mcp
