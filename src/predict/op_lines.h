// --ops: op calls as JSON lines, without a trace. `{"op": "aten::mm", "shapes": [[m,k],[k,n]], "dtypes": ["bfloat16", ..],
// "args": {..}}`; `strides`, `tf32` and, as a trace has them, `concrete` (the values of all arguments by position) may be
// given. `config`: {"BLOCK_M": .., "BLOCK_N": .., "BLOCK_K": .., "num_warps": .., "num_stages": ..}: the product by Triton in
// that configuration; "inductor": in each that Inductor tries. Lines of the recording script also hold what was measured: they
// are the points of --expected-file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "ops/op_call.h"
#include "predict/tile_features.h"

namespace ridge {

struct OpLine {
  std::unique_ptr<std::string> op;  // what call.op points to
  OpCall call;
  std::optional<bool> tf32;
  std::optional<double> warm_ns, cold_ns;
  std::string shapes, dtypes;            // as they were given
  std::vector<std::string> not_used;     // names of arguments that nothing is made of
  std::optional<TritonProduct> product;  // with `config`: what it is about, and which
  std::vector<TritonTile> tiles;
};

// An error names the line. Empty lines are left out.
Result<std::vector<OpLine>> read_op_lines(std::string_view text, const std::string& where);

}  // namespace ridge
