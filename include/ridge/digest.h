// Digests: what the analyses of a whole job need of one rank's trace, in some hundred kilobytes. Made where the trace lies and
// read instead of it (Engine::open takes files of digests as it takes traces); the answers are the same to the last digit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/engine.h>
#include <ridge/report.h>
#include <ridge/result.h>

namespace ridge {

// The bytes of the digest of one trace. Those of several, one behind the other, are a file of several.
Result<std::string> make_digest_bytes(const std::string& path, const OpenOptions& options);

struct DigestSummary {
  std::uint64_t ranks = 0;
  std::uint64_t bytes = 0;
  std::vector<Diagnostic> diagnostics;  // traces that could not be read
};

// Of every trace; a folder among the paths stands for those in it. `output` is a file for all of them, or, if it is a folder or
// ends with '/', a folder for a file each: NAME.digest. A trace that cannot be read is left out and said; if none can it is an
// error.
Result<DigestSummary> write_digests(const std::vector<std::string>& paths, const std::string& output,
                                    const OpenOptions& options);

// How files of digests are named.
inline constexpr std::string_view kDigestEnding = ".digest";

}  // namespace ridge
