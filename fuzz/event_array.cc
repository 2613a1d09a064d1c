// The elements of traceEvents alone: cut in two at any place they must read as they do in one piece. The first two bytes say
// where.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/event_array.h"
#include "ingest/scan.h"
#include "trace/trace.h"

namespace {

using namespace ridge;

// What one or more parses gave: rows and problems.
struct Found {
  std::string rows;
  Diagnostics diagnostics;
  bool closed = false;
  std::uint64_t stop = 0;
};

class Reader {
 public:
  explicit Reader(bool fast_path) : parser_(&trace_.storage->forms, &trace_.storage->strings, {.fast_path = fast_path}) {}

  // Parses `text` (at `offset`) and returns how many bytes were used.
  std::size_t parse(std::string_view text, std::uint64_t offset, bool last) {
    std::string padded(text);
    padded.append(kPadding, '\0');
    EventRun run;
    const Piece piece{.begin = padded.data(), .end = padded.data() + text.size(), .offset = offset, .last = last};
    const ArrayProgress progress = parser_.parse(piece, between_, &run, &found.diagnostics);
    between_ = progress.between;
    found.closed = progress.closed;
    const auto used = static_cast<std::size_t>(progress.stop - piece.begin);
    found.stop = offset + used;
    for (std::size_t i = 0; i < run.size(); ++i) {
      const ArgSchema& schema = trace_.forms.schema(run.form[i]);
      found.rows += std::to_string(run.ts_ns[i]) + ' ' + std::to_string(run.dur_ns[i]) + ' ' +
                    std::string(trace_.text(run.name[i])) + ' ' + std::to_string(schema.words) + '\n';
    }
    return used;
  }

  Found found;

 private:
  Trace trace_;
  EventArrayParser parser_;
  Between between_ = Between::start;
};

std::string summary(const Found& found) {
  std::string out = found.rows + (found.closed ? "closed at " + std::to_string(found.stop) : "open") + '\n';
  for (std::size_t i = 0; i < kProblems; ++i) {
    const Diagnostics::Entry& entry = found.diagnostics[static_cast<Problem>(i)];
    if (entry.count == 0) continue;
    out += std::string(row_of(static_cast<Problem>(i)).code) + ' ' + std::to_string(entry.count);
    for (const std::uint64_t offset : entry.offsets) out += ' ' + std::to_string(offset);
    out += '\n';
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::size_t cut = text.empty() ? 0 : (data[0] | static_cast<std::size_t>(data[1]) << 8) % text.size();
  Reader whole(false);
  whole.parse(text, 0, true);
  for (const bool fast_path : {false, true}) {
    Reader parts(fast_path);
    const std::size_t used = parts.parse(text.substr(0, cut), 0, false);
    if (!parts.found.closed) parts.parse(text.substr(used), used, true);
    if (summary(parts.found) == summary(whole.found)) continue;
    std::fprintf(stderr, "cut at %zu, by rote %d:\n%s\ninstead of\n%s\n", cut, fast_path, summary(parts.found).c_str(),
                 summary(whole.found).c_str());
    std::abort();
  }
  return 0;
}
