// Handovers between host threads: one waits while another works for it. Autograd runs the backward pass on a thread of its own
// while the thread that called backward() stands still. No event records that; it shows by one thread being silent, no slice
// of it starting or ending, from before the other wakes until after it is done.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"

namespace ridge {

struct Handover {
  std::uint32_t waiting = 0;  // index into tree.threads
  std::uint32_t working = 0;
  std::int64_t start_ns = 0;  // first start of a slice of the working thread
  std::int64_t end_ns = 0;    // last end
};

// Between `main` and each of `workers`, all of one process; by worker, in the order given, then by time.
std::vector<Handover> find_handovers(const Model& model, std::uint32_t main, const std::vector<std::uint32_t>& workers);

// The thread of each process that runs its program: the one that marks iterations where there are marks, else the one that
// launches most outside of autograd. In order of process; the first is that of the iterations.
std::vector<std::uint32_t> main_threads(const Model& model);

}  // namespace ridge
