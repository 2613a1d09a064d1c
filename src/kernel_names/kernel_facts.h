// KernelFacts: what a kernel's name tells of how it is built: the types and tiles of its template, the counts of its pointers.
// Pure: equal names give equal answers, so the caller keeps them.
#pragma once

#include <optional>
#include <string_view>

#include "base/dtype.h"

namespace ridge {

// What a kernel's name tells of itself, whatever op launched it: types and tiles of its template, counts of its pointers and
// lists, what kind of kernel it is. A fact that the name does not tell stays as it is here.
struct KernelFacts {
  DType dtype = DType::unknown;   // in which it computes, as far as the name tells
  DType item = DType::unknown;    // element type of its template; by size alone where it is opaque (cat)
  DType source = DType::unknown;  // foreach copies: of what is read
  bool item_opaque = false;
  bool tensor_cores_only = false;  // float32 input means TF32
  bool elementwise = false;        // ATen's general elementwise kernels
  bool reduce = false;             // ATen's general reduction
  bool transpose = false;          // cuDNN's layout kernels whose grid tells the operand
  bool folds = false;              // cuDNN's transposes that fold strides into channels; the grid tells as well
  bool accumulates = false;        // adds to its result with atomics
  bool fill = false;
  std::optional<bool> sums = std::nullopt;  // losses: whether it adds up the values of the rows
  bool sparse = false;                      // of a library for sparse matrices: how much of them there is, no trace tells
  int pointers = -1;                        // tensors of an elementwise kernel: results and inputs
  int lists = -1, list_reads = -1;          // of a foreach kernel
  double tile_m = 0, tile_n = 0;            // "tilesize64x128x32"
  double block_m = 0, block_n = 0;  // "nvjet_sm90_tst_64x128_64x8_2x1_": of the result, which the library has column by column
  double cluster_m = 1, cluster_n = 1;
  bool sweeps_m = false, sweeps_n = false;  // "_v_", "_h_": along which side of the result a group of tiles goes
  bool transposed = false;                  // "..T": the result's rows are m
  double elements_per_block = 0;            // of an elementwise or indexing kernel; 0: not told
};
KernelFacts facts_of(std::string_view kernel);

}  // namespace ridge
