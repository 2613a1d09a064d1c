// Part: the part of an op that one kernel does. What every family needs stands in it; what one family alone needs to know of
// its kernels is a type of that family. Which kernel does which part is decided in src/cost; formulas only read it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "base/dtype.h"

namespace ridge {

enum class KernelRole : std::uint8_t {
  main,         // the op itself, or its result
  grad_input,   // backward of a convolution or a norm
  grad_weight,  // backward of a convolution; gamma and beta of a norm
  grad_query,   // backward of attention where dQ has a kernel of its own
  grad_key_value,
  dot_do_o,        // attention backward: delta = rowsum(dO * O)
  convert_dq,      // attention backward: the fp32 accumulator of dQ to its own type
  combine,         // adds up partial results: split-k, split-kv
  layout_in,       // an operand brought into the library's layout
  layout_out,      // the result brought back
  apply,           // norms: the pass that writes the result
  apply_twice,     // norms: statistics and result in one kernel that reads the activations two times
  apply_kept,      // norms: as apply_twice, but for what its blocks keep in shared memory from the first pass
  statistics,      // norms: means, variances, sums of gradients: reads the activations, writes a value per channel or row
  parameters,      // touches vectors of parameters only
  initialise,      // workspace, pointers, offsets: a few bytes
  fill,            // writes without reading
  bias,            // adds a bias or scales the result in place
  index_helper,    // sorts and counts indices
  combine_helper,  // finds the runs of equal indices: a value or two per run
  step,            // recurrent networks: one time step's product with the recurrent weights
  up,              // experts: the first product alone, into the width between the two
  down,            // experts: the second
  unknown,         // several kernels that could be any: nothing is claimed of them
};

struct GemmPart {
  double partial_bytes = 0;  // of partial sums: combine reads them, the product writes them
  double reread_bytes = 0;   // what left the cache before its next use and is read again
};

struct ConvolutionPart {
  int operand = -1;             // layout_in: which argument
  double partial_bytes = 0;     // of partial sums: combine reads them, the kernel that computes writes them
  double reread_bytes = 0;      // what left the cache before its next use and is read again
  double channel_multiple = 1;  // the library's layout pads the channels to this
  bool channels_last = false;   // the kernel that computes walks its operands position by position, all channels of each
  double weights_enlarged = 1;  // by how much folding the strides into channels makes the weights larger
  double enlarged = 1;          // by how much a transform (Winograd) makes the operands larger
  bool accumulates = false;     // adds to its result with atomics, which read it
};

// What a server says of the step that it runs: tokens whose keys it makes (queries) and tokens they attend to (keys), over all
// requests of a sort; sums of products where it tells them.
struct ServerTokens {
  struct Sum {
    double requests = 0;
    double queries = 0;
    double keys = -1;     // -1: not told
    double pairs = -1;    // of each request queries x keys; -1: not told
    double squares = -1;  // of each request queries x queries; -1: not told
    bool operator==(const Sum&) const = default;
  };
  Sum context, generation;  // requests that are being read, and those that have tokens already
  bool known = false;
  bool operator==(const ServerTokens&) const = default;
};

struct AttentionPart {
  double partial_bytes = 0;       // of splits over keys
  double accumulator_bytes = -1;  // backward: sums of the queries' gradient, which are read; -1: as large as float32 queries
  ServerTokens tokens = {};       // paged: what the server's own mark says of the step that the launch belongs to
  bool window = false;            // only the last keys of each query count, and how many is not told
};

// The products of a mixture of experts: what the arguments do not tell, from what the call allocates as it runs and from the
// names of its kernels.
struct ExpertsPart {
  double top_k = 0, inner = 0;  // experts of a token; width between the two products; 0: not told
  bool gated = false;           // the first product is twice as wide, one half gates the other
  // Bytes of a value of the weights (block scales counted in), of what is multiplied with them and of the result; 0: not told
  double weight_item = 0, in_item = 0, out_item = 0;
};

struct PointwisePart {
  int inputs = -1;  // how many tensors the kernel reads; -1: its name does not tell
};

struct ReductionPart {
  DType item = DType::unknown;  // what the kernel reads, where it is a copy in another type
};

struct SoftmaxPart {
  double rows_in_flight = 0;  // rows that the device works on at a time, where the kernel passes over each several times
};

struct NormPart {
  double share_in_work = 1;  // apply_twice: of the channels, those that the device works on at a time
  double kept_bytes = 0;     // apply_kept: what its blocks hold on chip
};

struct GatherPart {
  double elements = 0;    // that the launch's grid covers, as index lists are not recorded; 0: not known
  std::int64_t rows = 0;  // that it takes, a row of the grid for each; 0: not known
  double before = 1;      // index_put: elements of the dimensions before those that are indexed
};

// cat: the tensors [first, first + count) of its list; count -1: all.
struct CatPart {
  DType item = DType::unknown;  // the trace does not tell the type of a list: from the kernel's name
  std::int64_t first = 0, count = -1;
};

struct PoolingPart {
  bool accumulates = false;  // adds to its result with atomics, which read it
};

struct LossPart {
  std::optional<bool> sums =
      std::nullopt;  // whether the kernel adds up the values of the rows; nothing: its name does not tell
};

// A time step, or the product of a cell (layer and direction) over all of them.
struct RecurrentPart {
  int cell = -1;               // -1: not known
  double rows = 0;             // of this launch; dropout: its elements; 0: not known
  double chunks = 1;           // into how many launches the steps of a layer are cut
  double partial_bytes = 0;    // of a split product
  bool input_weights = false;  // grad_weight: of the input's weights, not of the recurrent ones
};

struct SelectionPart {
  double partial_bytes = 0;  // topk: counts of digits
};

// Foreach and fused optimizers: the chunks [first, first + count) of their lists; count -1: all.
struct ListPart {
  DType item = DType::unknown;    // the trace does not tell the type of a list: from the kernel's name
  DType source = DType::unknown;  // of what is read, where it is not the item
  std::int64_t first = 0, count = -1;
  int list_reads = -1;  // how many lists the kernel reads, and of how many it is told; -1: its name does not tell
  int lists = -1;
  std::span<const double> sizes = {};  // elements of each tensor of a list that the trace left out, from elsewhere
  double elements = -1;  // of the chunks of this launch, where they were cut for all launches at once; -1: they were not
};

struct Part {
  KernelRole role = KernelRole::main;
  bool guessed = false;  // something that decides its traffic is not told: more than one reading fits
  std::variant<std::monostate, GemmPart, ConvolutionPart, AttentionPart, PointwisePart, ReductionPart, SoftmaxPart, NormPart,
               GatherPart, CatPart, PoolingPart, LossPart, RecurrentPart, SelectionPart, ListPart, ExpertsPart>
      of = {};

  // What the family knows of it; where nobody said anything, what the type says of a plain kernel.
  template <class T>
  T as() const {
    const T* own = std::get_if<T>(&of);
    return own != nullptr ? *own : T{};
  }
  // The same, to be told more.
  template <class T>
  T& edit() {
    if (!std::holds_alternative<T>(of)) of.template emplace<T>();
    return *std::get_if<T>(&of);
  }
};

}  // namespace ridge
