// One trace after the other, each read by all threads; a digest is made by one of them while the others read on.
#include "engine/digests.h"

#include <ridge/digest.h>
#include <ridge/folder.h>
#include <ridge/output_file.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "analysis/findings/findings.h"
#include "base/threads.h"
#include "base/try.h"
#include "engine/cost_options.h"
#include "engine/loading.h"
#include "job/digest_file.h"
#include "job/job_steps.h"
#include "job/make_digest.h"
#include "job/sound_digest.h"
#include "model/model.h"

namespace ridge {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = std::uintmax_t{64} << 30;

Result<Digest> digest_of(const std::string& path, const std::string& name, const ReadOptions& read, bool findings) {
  TRY(std::unique_ptr<Trace> trace, load_trace(path, {}, read));
  if (!name.empty()) trace->path = name;
  const Model model(*trace);
  Digest digest = make_digest(model);
  if (findings) add_findings(Scope(model), &digest);
  if (const std::string_view part = unsound_part(digest); !part.empty())
    return fail(ErrorCode::not_a_trace, "the times of the trace cannot be compared: " + std::string(part), path);
  return digest;
}

// The file's digests, or the trace's.
Result<std::vector<Digest>> digests_at(const std::string& path, const std::string& name, const ReadOptions& read,
                                       bool findings) {
  if (is_digest_file(path)) {
    TRY(const std::string bytes, read_small_file(path, "the digest", kLargestFile));
    return read_digests(bytes, path);
  }
  TRY(Digest digest, digest_of(path, name, read, findings));
  std::vector<Digest> one;
  one.push_back(std::move(digest));
  return one;
}

bool is_folder_name(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored);
}

// "rank0.json.gz" -> "rank0.digest"; names that are taken get a number.
std::string file_for(const std::string& folder, const Digest& digest, std::vector<std::string>* taken) {
  std::string stem = fs::path(digest.path).filename().string();
  for (const std::string_view ending : {".gz", ".zst", ".json"}) {
    if (stem.ends_with(ending) && stem.size() > ending.size()) stem.resize(stem.size() - ending.size());
  }
  const std::string plain = stem;
  for (int n = 2; std::find(taken->begin(), taken->end(), stem) != taken->end(); ++n) stem = plain + "_" + std::to_string(n);
  taken->push_back(stem);
  return (fs::path(folder) / (stem + std::string(kDigestEnding))).string();
}

// A rank that has a trace needs no digest: it is the same again, or that of a recording that is gone.
void leave_out_digests_of_traces(const std::vector<bool>& of_traces, LoadedDigests* loaded) {
  std::set<std::int64_t> traced, twice;
  for (std::size_t i = 0; i < of_traces.size(); ++i) {
    if (of_traces[i] && loaded->digests[i].rank) traced.insert(*loaded->digests[i].rank);
  }
  std::vector<Digest> kept;
  for (std::size_t i = 0; i < of_traces.size(); ++i) {
    Digest& digest = loaded->digests[i];
    if (!of_traces[i] && digest.rank && traced.contains(*digest.rank)) {
      twice.insert(*digest.rank);
    } else {
      kept.push_back(std::move(digest));
    }
  }
  loaded->digests = std::move(kept);
  if (twice.empty()) return;
  loaded->diagnostics.push_back({"digest_beside_trace", 1,
                                 (twice.size() == 1 ? "rank " : "ranks ") + listed_ranks({twice.begin(), twice.end()}) +
                                     (twice.size() == 1 ? " has" : " have") + " a trace and a digest: the trace counts"});
}

// Hands on the digests of each path in turn, and whether they are of a trace that was read. A path that cannot be read is said
// in `diagnostics`; where none can, its error is that of the whole.
template <class Take>
Result<void> for_each_digest(const std::vector<std::string>& paths, const OpenOptions& options,
                             std::vector<Diagnostic>* diagnostics, const Take& take) {
  const ReadOptions read = read_options(options);
  std::optional<Error> first;
  std::vector<std::string> no_traces;  // what else lies in the folder
  bool any = false;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto found =
        digests_at(paths[i], i < options.names.size() ? options.names[i] : std::string(), read, options.digest_findings);
    if (found) {
      const bool of_trace = !is_digest_file(paths[i]);
      for (Digest& digest : *found) {
        any = true;
        if (auto taken = take(std::move(digest), of_trace); !taken) return taken;
      }
      continue;
    }
    if (found.error().code == ErrorCode::interrupted || paths.size() == 1) return tl::unexpected(std::move(found.error()));
    const std::string file = fs::path(paths[i]).filename().string();
    if (found.error().code == ErrorCode::not_a_trace && !is_digest_file(paths[i])) {
      no_traces.push_back(file + (no_traces.empty() ? " (" + found.error().message + ")" : ""));
    } else {
      diagnostics->push_back(
          {"rank_unreadable", 1, file + " cannot be read and is left out: " + found.error().message, "error"});
    }
    if (!first) first = std::move(found.error());
  }
  if (!any && first) return tl::unexpected(std::move(*first));
  if (!no_traces.empty()) {
    constexpr std::size_t kMost = 4;
    std::string files;
    for (std::size_t i = 0; i < std::min(kMost, no_traces.size()); ++i) files += (i > 0 ? ", " : "") + no_traces[i];
    if (no_traces.size() > kMost) files += " and " + std::to_string(no_traces.size() - kMost) + " more";
    diagnostics->push_back({"no_trace", 1, "no traces, and left out: " + files});
  }
  return {};
}

}  // namespace

std::uint64_t HeldJob::memory_bytes() const {
  std::uint64_t bytes = job.memory_bytes() + digests.capacity() * sizeof(Digest);
  for (const Digest& digest : digests) {
    bytes += digest.steps.capacity() * sizeof(DigestStep) + digest.collectives.capacity() * sizeof(DigestCollective) +
             digest.items.capacity() * sizeof(LaneItem) + digest.kernels.capacity() * sizeof(DigestKernel) +
             digest.ops.capacity() * sizeof(DigestOp);
    for (const DigestKernel& kernel : digest.kernels)
      bytes += kernel.name.capacity() + kernel.times.buckets.capacity() * sizeof(kernel.times.buckets[0]);
  }
  return bytes;
}

bool is_digest_file(const std::string& path) {
  if (path == "-") return false;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  char first[8];
  const std::size_t count = std::fread(first, 1, sizeof first, file);
  std::fclose(file);
  return is_digest({first, count});
}

void add_findings(const Scope& scope, Digest* digest) {
  digest->knows_findings = true;
  for (const RankedFinding& row : compute_findings(scope).rows) {
    digest->findings.push_back(
        {std::string(row.id), row.finding.finding, row.finding.action, row.savings.saves_ns, row.at_most_ns});
  }
}

Result<LoadedDigests> load_digests(const std::vector<std::string>& paths, const OpenOptions& options) {
  LoadedDigests loaded;
  std::vector<bool> of_traces;
  const auto keep = [&](Digest digest, bool of_trace) -> Result<void> {
    loaded.digests.push_back(std::move(digest));
    of_traces.push_back(of_trace);
    return {};
  };
  if (auto done = for_each_digest(paths, options, &loaded.diagnostics, keep); !done) return tl::unexpected(done.error());
  leave_out_digests_of_traces(of_traces, &loaded);
  return loaded;
}

Result<std::string> make_digest_bytes(const std::string& path, const OpenOptions& options) {
  const auto threads = std::make_shared<Threads>(options.threads);
  const Threads::Use use(threads.get());
  const ReadOptions read = read_options(options);
  TRY(const Digest digest,
      digest_of(path, options.names.empty() ? std::string() : options.names.front(), read, options.digest_findings));
  std::string bytes;
  append_digest(digest, &bytes);
  return bytes;
}

Result<DigestSummary> write_digests(const std::vector<std::string>& paths, const std::string& output,
                                    const OpenOptions& options) {
  if (paths.empty()) return fail(ErrorCode::usage, "no trace given", "", "give the traces of a job, or their folder");
  TRY(const std::vector<std::string> files, with_folders_expanded(paths));
  const bool into_folder = is_folder_name(output);
  if (!into_folder) {
    if (auto good = check_output(output, files); !good) return tl::unexpected(good.error());
  }
  const auto threads = std::make_shared<Threads>(options.threads);
  const Threads::Use use(threads.get());
  DigestSummary summary;
  if (into_folder) {
    std::error_code error;
    fs::create_directories(output, error);
    if (error) return fail(ErrorCode::cannot_write, "cannot make the folder: " + error.message(), output);
  }
  std::vector<std::string> taken;
  std::string bytes;
  // One digest at a time, however many there are.
  const auto write_all = [&](const Writer& write) {
    return for_each_digest(files, options, &summary.diagnostics, [&](const Digest& digest, bool) -> Result<void> {
      bytes.clear();
      append_digest(digest, &bytes);
      ++summary.ranks;
      summary.bytes += bytes.size();
      return into_folder ? write_output_file(file_for(output, digest, &taken), bytes) : write(bytes);
    });
  };
  const auto done = into_folder ? write_all({}) : write_output_file(output, write_all);
  if (!done) return tl::unexpected(done.error());
  return summary;
}

}  // namespace ridge
