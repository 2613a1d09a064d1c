// Fusion: what a compiler makes of ops that run one by one. Ops that compute element by element, move elements, or sum them up
// become few kernels; products, convolutions and attention stay, and so does what they read and write.
//
// A trace names no tensors. What an op reads is told by its size and shape: the tensor of that shape that was made last, those
// before others that nothing has read yet. Views are followed: a part of a tensor is not the whole.
//
// Each op has a depth: one more than the ops that stay on the longest way to it. Ops of one thread and depth can be one kernel:
// no op that stays needs what one of them makes and makes what another needs. Such a group reads what ops of other depths made
// (each tensor once), and writes what others read. Where a result is known only when all of its input was read (sums down the
// columns, norms over channels), what needs it lies deeper, too: the input is read once more.
#pragma once

#include <cstdint>
#include <vector>

namespace ridge {

struct FlowTensor {
  double elements = 0;
  double width = 0;         // bytes of an element; 0: not known
  std::uint64_t shape = 0;  // a hash of its sizes; 0: the size is told by a grid, rounded up to whole blocks
  bool guessed = false;     // or only by the time that a kernel took: it may be any that was just made
  double bytes() const { return elements * width; }
};

enum class FlowSort : std::uint8_t {
  view,       // of `reads`, which is one
  generated,  // a compiler writes it anew
  stays,      // a kernel of a library
};

// What equal calls of an op do.
struct FlowCall {
  FlowSort sort = FlowSort::generated;
  bool known = true;   // its tensors are; what stays and is not known is taken to need all that was made before
  bool whole = false;  // what it makes is known when all of its input was read
  bool twice = false;  // it reads its input once for that, and once more
  std::vector<FlowTensor> reads, makes;
};

struct FlowOp {
  std::uint32_t call = 0;
  std::uint32_t thread = 0;     // nothing fuses across threads: autograd's are a program of their own
  std::uint32_t iteration = 0;  // nor across iterations
  std::uint32_t node = 0;       // whoever made the flow knows it by this
};

struct Flow {
  std::vector<FlowCall> calls;  // distinct ones
  std::vector<FlowOp> ops;      // in order of time
};

struct Fused {
  static constexpr std::uint32_t kNoGroup = UINT32_MAX;
  struct Group {
    double bytes_read = 0, bytes_written = 0;
    bool sure = true;  // what it reads has a size, and nothing that is not known stands before it
  };
  std::vector<std::uint32_t> group_of;  // of each op; kNoGroup of what a compiler does not write
  std::vector<std::uint32_t> part_of;   // likewise: ops of a group are one part with this one, and with each other
  std::vector<Group> groups;            // in the order of their first ops
};

// Linear in what ops read and make.
Fused fuse(const Flow& flow);

}  // namespace ridge
