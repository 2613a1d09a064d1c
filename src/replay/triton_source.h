// The source of a Triton kernel as a script may hold it: out of a file that the user named, reduced to what defines the kernel
// (imports of Triton and of Inductor's runtime, constants, functions under triton.jit), and looked at, since it will be run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "cost/triton/kernel_source.h"

namespace ridge {

enum class SourceTrust : std::uint8_t {
  parsed,  // what is no plain definition of a kernel is refused
  whole,   // --trust-source: the text as it stands
};

struct TritonSource {
  std::string text;                          // to run
  std::string function;                      // the kernel's name in it
  std::vector<std::string> parameters;       // of the kernel, in order; constants too
  std::vector<std::string> constants;        // those that are tl.constexpr
  std::optional<std::int64_t> index_limit;   // the least bound that it checks indices against
  SourceMatch match = SourceMatch::unknown;  // of the whole text with the trace's hash
};

// The source of the kernel in a file's text: the file of one kernel, or a module that Inductor generated, which holds its
// kernels as texts. `hash`: as the trace has it, or empty: of several kernels of one name the one with this hash.
Result<TritonSource> find_triton_source(std::string_view file_text, std::string_view kernel, std::string_view hash,
                                        SourceTrust trust);

}  // namespace ridge
