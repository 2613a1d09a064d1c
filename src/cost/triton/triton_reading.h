// Reading: one generated kernel's pointers against the space it walks and the ops it fuses: which can be outputs, which must be
// inputs. Only questions about one kernel are here; the answer for all of its pointers is put together in triton_roles.
#pragma once

#include <cstddef>
#include <span>

#include "cost/triton/triton_arguments.h"
#include "cost/triton/triton_ops.h"

namespace ridge {

inline bool is_integer(DType dtype) { return dtype == DType::i64 || dtype == DType::i32; }

class Reading {
 public:
  Reading(const TritonArguments& arguments, const FusedOps& ops);  // which must have a space and outlive the reading

  std::size_t size() const { return pointers_.size(); }
  const TritonPointer& operator[](std::size_t i) const { return pointers_[i]; }
  double all() const { return all_; }
  bool reduces() const { return reduces_; }
  bool is_target(std::size_t i) const {
    return scatters_ && (i >= targets_ || targets_ == size());
  }  // where no table tells: each
  // An index names one element of each row of the target: the two differ in the last dimension alone.
  bool lone_elements(std::size_t target) const;
  bool gathers() const { return ops_.gathers && has_index(); }

  bool larger(std::size_t i) const { return pointers_[i].elements > all_; }
  // A padded split of a reduction covers a little more than its input holds.
  bool full(std::size_t i) const { return pointers_[i].elements >= 0.75 * all_; }
  bool small(std::size_t i) const { return !full(i) && !is_index(i); }
  bool is_index(std::size_t i) const { return is_integer(pointers_[i].shape->dtype); }

  // What a kernel writes has the size of its space, or of what the reduction leaves; or it is scattered into.
  bool can_be_written(std::size_t i) const {
    if (is_dropout_mask(i) && !ops_.makes_mask) return false;
    const double n = pointers_[i].elements;
    return n == all_ || (reduces_ && n == kept_) || i >= targets_;
  }

  int inputs(std::size_t out) const;
  int inputs_wanted(std::size_t in_out, std::size_t out) const;
  std::size_t outputs(std::size_t in_out) const;
  std::size_t in_outs_by_shape() const;
  std::size_t writable_tail(std::size_t first) const;
  bool in_out_is_read(std::size_t i, std::size_t in_out, std::size_t out) const;

 private:
  bool has_index() const;
  bool is_mask(std::size_t i) const { return pointers_[i].shape->dtype == DType::boolean && full(i); }
  bool is_dropout_mask(std::size_t i) const { return ops_.drops && is_mask(i); }
  std::size_t behind_made_mask() const;
  bool saves_in_place() const;
  bool combines_statistics() const;
  bool adds_to_gradient() const;
  bool adds_to_scaled() const;
  bool spreads() const;
  int norms_applied(std::size_t in_out, std::size_t out) const;
  bool normalised_in_place(std::size_t in_out, std::size_t out) const;
  int vectors(std::size_t first, std::size_t last) const;
  std::size_t without_norm_vectors(std::size_t out) const;
  std::size_t shaped_as_first(std::size_t in_out) const;
  bool flattened_last() const;
  bool residual_missing() const;
  bool sums_in_place() const;
  int parts(std::size_t last) const;
  bool clears() const;
  std::size_t behind_statistics() const;

  std::span<const TritonPointer> pointers_;
  const FusedOps& ops_;
  double all_, kept_;
  bool reduces_;
  bool tiled_;  // over two dimensions: layouts differ
  bool scatters_;
  std::size_t targets_;  // the first pointer that is scattered into
};

}  // namespace ridge
