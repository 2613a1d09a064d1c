// fuzz_replay TARGET PATH...: runs files, or every file of folders, through a fuzz target: how a build without libFuzzer
// replays a corpus. All targets are in the one program, each under its own name (cmake/Tests.cmake).
// The empty input is always tried first. A finding ends the process, as it does under libFuzzer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#define RIDGE_FUZZ_TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.inc"
#undef RIDGE_FUZZ_TARGET

namespace {

struct Target {
  std::string_view name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

constexpr Target kTargets[] = {
#define RIDGE_FUZZ_TARGET(name) {#name, fuzz_##name},
#include "fuzz_targets.inc"
#undef RIDGE_FUZZ_TARGET
};

namespace fs = std::filesystem;

std::vector<fs::path> inputs(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::uint8_t> contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto target = std::find_if(std::begin(kTargets), std::end(kTargets), [&](const Target& t) { return t.name == name; });
  if (target == std::end(kTargets)) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET PATH...; TARGET is a file of fuzz/ without its ending\n");
    return 2;
  }
  target->run(nullptr, 0);
  int replayed = 1;
  for (int i = 2; i < argc; ++i) {
    for (const fs::path& path : inputs(argv[i])) {
      if (!fs::exists(path)) continue;  // a target without a corpus yet
      // Named before it runs: when the process dies, the last line tells the input.
      std::printf("%s\n", path.c_str());
      std::fflush(stdout);
      const std::vector<std::uint8_t> bytes = contents(path);
      target->run(bytes.data(), bytes.size());
      ++replayed;
    }
  }
  std::printf("%d passed, 0 failed\n", replayed);
  return 0;
}
