// How fast a trace becomes columns, inside one process: no start-up, no printing. Figures against rivals are bench/compare's.
#include <benchmark/benchmark.h>
#include <ridge/engine.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace {

// Reads one fixture with the given number of threads; bytes per second are those of the file as it lies on disk.
void open_trace(benchmark::State& state, const std::string& name) {
  const std::string path = std::string(RIDGE_SOURCE_DIR) + "/" + name;
  ridge::OpenOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    auto engine = ridge::Engine::open({path}, options);
    if (!engine) {
      state.SkipWithError(engine.error().message.c_str());
      return;
    }
    benchmark::DoNotOptimize(engine);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(std::filesystem::file_size(path)));
}

BENCHMARK_CAPTURE(open_trace, stacks_and_memory, "tests/fixtures/gpt_eager_train_stack_mem.json.gz")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(open_trace, shapes, "tests/fixtures/resnet18_eager_shapes.json.gz")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(open_trace, tiny, "tests/fixtures/user_triton_kernel.json.gz")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
