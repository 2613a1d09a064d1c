// Traces and files of digests -> digests, each trace let go when it is digested.
#pragma once

#include <string>
#include <vector>

#include <ridge/engine.h>
#include <ridge/report.h>
#include <ridge/result.h>

#include "facts/scope.h"
#include "job/digest.h"
#include "job/job.h"

namespace ridge {

struct LoadedDigests {
  std::vector<Digest> digests;  // in the order of the paths
  std::vector<Diagnostic> diagnostics;
};

// A job with its digests, put together once for all who ask.
struct HeldJob {
  explicit HeldJob(std::vector<Digest> of) : digests(std::move(of)), job(assemble_job(digests)) {}
  HeldJob(const HeldJob&) = delete;  // the job refers to the digests
  HeldJob& operator=(const HeldJob&) = delete;

  const std::vector<Digest> digests;
  const Job job;

  std::uint64_t memory_bytes() const;
};

// What `findings` says of the trace of a digest.
void add_findings(const Scope& scope, Digest* digest);

// Whether the file at `path` begins as digests do.
bool is_digest_file(const std::string& path);

// A trace that cannot be read is left out and said; where none can, its error is that of the whole.
Result<LoadedDigests> load_digests(const std::vector<std::string>& paths, const OpenOptions& options);

}  // namespace ridge
