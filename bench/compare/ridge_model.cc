// ridge_model: reads a trace, then builds every table of the model that `ridge summary` asks for, in the order in which it
// asks, and prints how many events there are and how long the tables took (wall, nanoseconds). What the analyses make of the
// tables is not in it.
//
//   ridge_model FILE THREADS
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <tbb/global_control.h>
#include <tbb/parallel_invoke.h>

#include "ingest/reader.h"
#include "model/model.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: ridge_model FILE THREADS\n", stderr);
    return 2;
  }
  ridge::ReadOptions options;
  options.threads = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, options.threads);
  const auto trace = ridge::read_trace(argv[1], options);
  if (!trace) {
    std::fprintf(stderr, "ridge_model: %s\n", trace.error().message.c_str());
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  const ridge::Model model(**trace);
  model.links();
  tbb::parallel_invoke([&] { model.timeline(); }, [&] { model.iterations(); }, [&] { model.forward_backward(); });
  tbb::parallel_invoke([&] { model.host_stalls(); }, [&] { model.compiled_regions(); }, [&] { model.autotuning(); },
                       [&] { model.graph_replays(); }, [&] { model.locations(); });
  const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start);
  std::printf("{\"events\": %u, \"model_ns\": %lld}\n", (*trace)->events.size(), static_cast<long long>(took.count()));
  std::fflush(stdout);
  std::_Exit(0);  // the time to free the tables is not counted
}
