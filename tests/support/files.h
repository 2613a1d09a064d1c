// Files for tests: the repository's own traces, those beside it, and bytes packed in the ways that traces arrive.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridge::test {

// The repository's root.
std::string source_dir();
// Paths of every trace in the repository: tests/fixtures and examples.
std::vector<std::string> own_traces();
// Paths of the traces of ../shared/traces/{h200,faults,public}, where that folder exists.
std::vector<std::string> shared_traces();
// Both; under sanitizers, where those beside the repository take minutes and show nothing new, a sample of these.
std::vector<std::string> all_traces();

std::string contents(const std::string& path);

// The JSON of a trace: inflated when it is compressed, without ridge's own reader of events.
std::string json_of(const std::string& path);
std::string fixture(const std::string& name);  // json_of tests/fixtures/<name>.json.gz

std::string gzip(std::string_view bytes);
std::string zstd(std::string_view bytes);

// What the first bytes of a compressed stream hold, by the library's own streaming interface: the whole prefix that can be had.
std::string inflate_prefix_gzip(std::string_view bytes);
std::string inflate_prefix_zstd(std::string_view bytes);

}  // namespace ridge::test
