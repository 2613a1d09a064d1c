// Families whose kernels tell their part each for itself, by the name alone.
#include "cost/library/call_parts.h"

namespace ridge {

void assign_pointwise_roles(CallParts& c) {
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const int pointers = c.launches[i].facts->pointers;
    if (pointers > 0) c.parts[i].of = PointwisePart{.inputs = pointers - 1};
  }
}

void assign_reduction_roles(CallParts& c) {
  for (std::size_t i = 0; i < c.parts.size(); ++i) c.parts[i].of = ReductionPart{.item = c.launches[i].facts->item};
}

void assign_pooling_roles(CallParts& c) {
  for (std::size_t i = 0; i < c.parts.size(); ++i) c.parts[i].of = PoolingPart{.accumulates = c.launches[i].facts->accumulates};
}

void assign_loss_roles(CallParts& c) {
  for (std::size_t i = 0; i < c.parts.size(); ++i) c.parts[i].of = LossPart{.sums = c.launches[i].facts->sums};
}

}  // namespace ridge
