// Where in the program a slice comes from: the path of nn.Modules around it and the line of the user's code that called it. A
// backward op, whose thread runs no Python, has those of its forward op. Only traces with stacks (with_stack=True) tell;
// elsewhere both are empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bulk_vector.h"
#include "base/heap_bytes.h"
#include "model/call_tree.h"
#include "model/forward_backward.h"
#include "trace/trace.h"

namespace ridge {

class Locations {
 public:
  Locations(const Trace& trace, const CallTree& tree, const ForwardBackward& links);

  // "ResNet_0.Sequential_1.Conv2d_3", outermost first; empty outside of any module.
  std::string_view module_path(NodeId n) const { return paths_[spots_[spot_[n.value]].path]; }
  // "train.py:85 (step)": the innermost frame that is neither PyTorch's, Triton's, generated, nor Python's own; empty when
  // there is none.
  std::string_view location(NodeId n) const { return places_[spots_[spot_[n.value]].place]; }

  std::uint64_t heap_bytes() const { return ridge::heap_bytes(spot_, spots_, paths_, places_); }

 private:
  // Both together: a program has few, so that a node has one number for them.
  struct Spot {
    std::uint32_t path = 0, place = 0;
  };
  class Numbers;

  void follow_forward(const CallTree& tree, const ForwardBackward& links, Numbers* numbers);

  BulkVector<std::uint32_t> spot_;           // by node
  std::vector<Spot> spots_;                  // 0 is the empty one
  std::vector<std::string> paths_, places_;  // 0 is the empty one
};

// Whether a frame of that file is code that a user of PyTorch wrote.
bool is_user_file(std::string_view file);

}  // namespace ridge
