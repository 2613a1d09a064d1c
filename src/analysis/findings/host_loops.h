// HostLoops: stretches in which a thread calls the same few ops over and over: a loop in Python over tensors, parameters or
// time steps. Known by the names of the outermost ops alone, so that sizes may differ from round to round; autograd walks such
// a loop back in its own thread.
//
// Layers of a model follow each other like rounds too, seldom so many of them. Fewer rounds are a loop where what they made is
// put together behind them (torch.stack or cat of a list): chains that do not wait for each other, over parts of a tensor or
// with weights of their own. Backward the other way round.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/findings/facts.h"

namespace ridge {

struct HostLoop {
  std::uint32_t thread = 0;  // index into tree.threads
  NodeId first = kNoNode;    // its ops, outermost ones
  std::uint32_t period = 0;  // ops of a round
  std::uint32_t rounds = 0;
  Interval time = {};              // to the end of the last op
  std::vector<NodeId> round = {};  // the ops of its first round
  bool gathered = false;           // behind it, or backward ahead of it, one op takes what each round made
};

// In order of thread and time, apart from each other. A loop lies within one iteration; none where iterations are a guess,
// since a loop is what passes for them then.
std::vector<HostLoop> find_host_loops(Facts& facts);

}  // namespace ridge
