// What the ops that a generated kernel fuses tell about it: arithmetic per element, and how many tensors of full size they
// take. Estimates: a name is listed once however often the op occurs, and scalar operands do not show.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ridge {

struct FusedOps {
  double flops_per_element = 0;  // sum over the ops; a transcendental counts as one, as an addition does
  int inputs = 1;                // full-size tensors that the ops read at least: backward formulas take two
  int operands = 0;              // further ones that a sum or product may take, unless its operand is small or a scalar
  int norm_vectors = 0;          // tensors of the small kind that fused normalisations take: weights, statistics
  bool reads = false;            // some op takes a tensor: not zeros, full, arange, nor what clears the target of a scatter
  bool makes_full_size = false;  // some op gives a full-size tensor, so that a reduction may write one as well
  bool adds_residual = false;    // an `add` that is not a normalisation's epsilon
  bool gathers = false;          // reads what an index tensor names
  bool scatters = false;         // adds to what an index tensor names
  bool overwrites = false;       // scatters without adding
  bool places = false;           // writes to what an index tensor names
  bool reads_windows = false;    // each output takes several elements of a larger input: pooling, gates
  bool sums = false;             // reduces; in a pointwise kernel such a loop is unrolled and reads all of a larger input
  bool reads_parts = false;      // slices a larger input
  bool unflattens = false;       // reads the two-dimensional result of a matrix product as a tensor of more dimensions
  bool constants = false;        // some op makes a tensor of nothing: zeros, arange
  bool scales_by_constants =
      false;               // a normalisation by given statistics that was written out, and an activation that saves its result
  bool only_adds = false;  // sums of tensors and no other arithmetic
  bool norm_and_backward = false;  // a normalisation and its gradient: which of the two the kernel does, the other being saved
                                   // or recomputed, its pointers tell
  bool rms_and_backward = false;   // as norm_and_backward, of a norm that has no mean
  bool undoes_softmax = false;     // the gradient of a softmax that is recomputed from its rows' statistics
  bool backward_norm = false;      // the gradient of a normalisation alone
  bool in_backward = false;        // some gradient that no forward pass saves something for: the kernel is of a backward graph
  bool drops = false;              // dropout, whose mask is a tensor of booleans
  bool makes_mask = false;         // some op gives booleans: dropout of the forward pass, comparisons
  bool moves_axes = false;         // a copy in another order of dimensions, which cannot be done in place
  bool saves = false;              // a gradient beside its own forward op: what the one saves, or the other takes up again
  bool divides_by_sum = false;     // a reduction and a division: by what the reduction gives, which is no tensor
  bool undoes_mean = false;        // the gradient of a normalisation: row statistics are read, its own sums stay inside
};

FusedOps fused_ops(std::span<const std::string> names);

}  // namespace ridge
