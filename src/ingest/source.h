// Source: where the bytes of a trace come from, uncompressed, in order: a file, a pipe, memory, or a container around one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <ridge/result.h>

#include "base/progress.h"
#include "trace/diagnostics.h"

namespace ridge {

class Source {
 public:
  virtual ~Source() = default;

  // Fills `out` as far as it can: less than `size` bytes means that the input is over (or cannot be read any further: see
  // damage()).
  virtual Result<std::size_t> read(char* out, std::size_t size) = 0;

  // What was wrong with the input itself, at the bytes that came out of it: why it ended early, if it did, and checksums that
  // do not fit.
  const Diagnostics& damage() const { return damage_; }

  virtual std::uint64_t file_position() const = 0;  // bytes of the file used so far

 protected:
  Diagnostics damage_;
};

inline constexpr std::string_view kPlain = "plain";  // the container of bytes that are in none

struct OpenedSource {
  std::unique_ptr<Source> source;
  std::string_view container;    // a name of ingest/container.h
  std::uint64_t file_bytes = 0;  // 0 when not known (a pipe)
  std::string prefix;            // the file's first bytes, to name what is no trace

  bool compressed() const { return container != kPlain; }
};

// `path` may be "-" for standard input.
// `progress` is asked where a pipe has to be waited for.
Result<OpenedSource> open_source(const std::string& path, ProgressFunction progress = {});

// The same over bytes in memory, which must outlive it.
OpenedSource open_bytes(std::string_view bytes);

}  // namespace ridge
