// CallKind: what is known of a call, whatever the iteration: its op, shapes, place and kernels. Millions of calls have a few
// hundred kinds, so that names are read, cut and compared once per kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diff/keys.h"
#include "analysis/diff/op_names.h"
#include "analysis/diff/shapes.h"
#include "model/kernel_identity.h"
#include "model/phases.h"
#include "trace/trace.h"

namespace ridge::diff {

struct KernelSlot {
  Key name = kNoKey;
  Key grid = kNoKey;
  std::string_view text;  // the name as the trace has it
  const KernelIdentity* identity = nullptr;
};

struct CallKind {
  Key op = kNoKey;           // name of the op; kNoKey when no op is known
  std::string_view op_text;  // to show; also where the op does not count as evidence
  Key canonical = kNoKey;
  Key sort = kNoKey;     // of matrix work: gemm, convolution, ...; else the canonical name
  Key list_of = kNoKey;  // of aten::_foreach_mul_: the canonical name of what it does to each tensor
  Heavy heavy = Heavy::none;
  Key dims = kNoKey;  // text of its shapes; kNoKey when not recorded
  std::string_view dims_text;
  Shapes shapes;
  std::uint64_t heavy_shape = 0;
  Phase phase = Phase::forward;
  Key module = kNoKey;
  std::string_view module_text;
  std::int64_t device = 0;  // rank among the trace's devices

  std::vector<KernelSlot> kernels;      // in order of launch
  std::uint64_t kernel_names = 0;       // all their names
  std::uint64_t counterless_names = 0;  // the same without the counters of generated names
  std::uint64_t untuned_names = 0;      // the same without what only tunes a kernel
  std::uint64_t grids = 0;              // names and grids; 0 when a grid is not known
  std::vector<Key> fused;  // of an Inductor kernel: canonical names of the ops it fuses, sorted, matrix work left out
  bool generated = false;  // an Inductor kernel that is no typical iteration
  Category category = Category::other;

  bool fuses(Key canonical_name) const;
};

}  // namespace ridge::diff
