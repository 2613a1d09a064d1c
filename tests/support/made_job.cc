// The simulation: host and device of each rank go on, a step at a time.
#include "support/made_job.h"

#include <algorithm>
#include <map>

namespace ridge::test {
namespace {

constexpr int kSteps = 6;  // that are played: numbers 0 to 5
constexpr std::int64_t kStartUs = 1'000'000;

std::string slice(const std::string& cat, const std::string& name, int pid, int tid, std::int64_t ts, std::int64_t dur,
                  const std::string& args) {
  return "{\"ph\": \"X\", \"cat\": \"" + cat + "\", \"name\": \"" + name + "\", \"pid\": " + std::to_string(pid) +
         ", \"tid\": " + std::to_string(tid) + ", \"ts\": " + std::to_string(ts) + ", \"dur\": " + std::to_string(dur) +
         ", \"args\": {" + args + "}}";
}

struct Playing {
  std::int64_t host = kStartUs, device = kStartUs;
  int correlation = 0;
  std::string events;
};

void add(Playing* rank, const std::string& event) { rank->events += (rank->events.empty() ? "" : ",\n") + event; }

std::string work_args(int correlation, int stream, int grid) {
  return "\"correlation\": " + std::to_string(correlation) + ", \"device\": 0, \"stream\": " + std::to_string(stream) +
         ", \"grid\": [" + std::to_string(grid) + ", 1, 1], \"block\": [128, 1, 1]";
}

}  // namespace

std::vector<std::string> made_traces(const MadeJob& job, std::int64_t* step_us) {
  std::vector<Playing> playing(job.ranks.size());
  std::int64_t first_end = 0, last_end = 0;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<std::int64_t> began(job.ranks.size()), step_start(job.ranks.size());
    std::map<std::string, std::int64_t> last;  // of each group
    std::map<std::string, int> sizes;
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
      const MadeRank& made = job.ranks[r];
      Playing& rank = playing[r];
      const bool recorded = step >= made.first_step && step <= made.last_step;
      const auto record = [&](const std::string& event) {
        if (recorded) add(&rank, event);
      };
      step_start[r] = rank.host;
      record(slice("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 1,
                   rank.host + made.ahead_us, made.loader_us, ""));
      rank.host += made.loader_us + made.stall_us;
      for (int k = 0; k < made.kernels; ++k) {
        const std::string id = "\"correlation\": " + std::to_string(++rank.correlation);
        record(slice("cuda_runtime", "cudaLaunchKernel", 1, 1, rank.host + made.ahead_us, 2, id));
        const std::int64_t start = std::max(rank.device, rank.host + 5);
        record(slice("kernel", "work_kernel", 0, 7, start + made.ahead_us, made.kernel_us,
                     work_args(rank.correlation, 7, made.grid)));
        rank.device = start + made.kernel_us;
        rank.host += made.launch_us;
      }
      began[r] = std::max(rank.device, rank.host + 5) + 1;
      last[made.pg_name] = std::max(last[made.pg_name], began[r]);
      ++sizes[made.pg_name];
    }
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
      const MadeRank& made = job.ranks[r];
      Playing& rank = playing[r];
      const std::int64_t end = last[made.pg_name] + made.transfer_us.value_or(job.transfer_us);
      if (step == 0) first_end = std::max(first_end, end);
      last_end = std::max(last_end, end);
      const bool recorded = step >= made.first_step && step <= made.last_step;
      const std::string id = "\"correlation\": " + std::to_string(++rank.correlation);
      std::string args = work_args(rank.correlation, 20, 8) +
                         ", \"Collective name\": \"allreduce\", \"In msg nelems\": 1000000, \"Out msg nelems\": 1000000, "
                         "\"Group size\": " +
                         std::to_string(sizes[made.pg_name]) + ", \"dtype\": \"Float\", \"Process Group Name\": \"" +
                         made.pg_name + "\"";
      if (job.sequence) args += ", \"Seq\": " + std::to_string(100 + step);
      if (recorded) {
        add(&rank, slice("cuda_runtime", "cudaLaunchKernel", 1, 1, rank.host + made.ahead_us, 2, id));
        add(&rank, slice("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 0, 20,
                         began[r] + made.ahead_us, end - began[r], args));
      }
      // The step ends with a synchronisation, as one that reads its loss does.
      const std::int64_t synced = rank.host + 3;
      rank.host = end + 10;
      rank.device = end;
      if (recorded) {
        add(&rank, slice("cuda_runtime", "cudaDeviceSynchronize", 1, 1, synced + made.ahead_us, rank.host - synced, ""));
        add(&rank, slice("user_annotation", "ProfilerStep#" + std::to_string(step), 1, 1, step_start[r] + made.ahead_us,
                         rank.host - step_start[r], ""));
      }
    }
  }
  if (step_us != nullptr) *step_us = (last_end - first_end) / (kSteps - 1);
  std::vector<std::string> traces;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const MadeRank& made = job.ranks[r];
    std::string head = "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": " + std::to_string(job.base_ns);
    if (!made.host.empty()) head += ", \"host_name\": \"" + made.host + "\"";
    const std::string world = std::to_string(job.world_size.value_or(static_cast<int>(job.ranks.size())));
    head += ", \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\"}], \"distributedInfo\": {\"backend\": \"nccl\"";
    if (made.tells_rank)
      head += ", \"rank\": " + std::to_string(made.rank.value_or(static_cast<int>(r))) + ", \"world_size\": " + world;
    head += "}, \"traceEvents\": [\n";
    traces.push_back(head + playing[r].events + "\n]}");
  }
  return traces;
}

}  // namespace ridge::test
