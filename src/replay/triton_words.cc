// The lists themselves, sorted for the search. Those of triton.language are its public names but for its modules.
#include "replay/triton_words.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace ridge {
namespace {

constexpr std::string_view kAttributes[] = {
    // triton.language
    "PropagateNan", "abs", "add", "advance", "arange", "argmax", "argmin", "associative_scan", "assume", "atomic_add",
    "atomic_and", "atomic_cas", "atomic_max", "atomic_min", "atomic_or", "atomic_xchg", "atomic_xor", "bfloat16",
    "bitonic_merge", "block_type", "broadcast", "broadcast_to", "cast", "cat", "cdiv", "ceil", "clamp", "const", "constexpr",
    "cos", "cumprod", "cumsum", "debug_barrier", "device_assert", "device_print", "div_rn", "dot", "dot_scaled", "dtype", "erf",
    "exp", "exp2", "expand_dims", "fdiv", "flip", "float16", "float32", "float64", "float8e4b15", "float8e4b8", "float8e4nv",
    "float8e5", "float8e5b16", "floor", "fma", "full", "gather", "histogram", "inline_asm_elementwise", "int1", "int16",
    "int32", "int64", "int8", "interleave", "join", "load", "load_tensor_descriptor", "log", "log2", "make_block_ptr",
    "make_tensor_descriptor", "math", "max", "max_constancy", "max_contiguous", "maximum", "min", "minimum", "mul",
    "multiple_of", "num_programs", "permute", "philox", "pointer_type", "program_id", "rand", "rand4x", "randint", "randint4x",
    "randn", "randn4x", "range", "ravel", "reduce", "reduce_or", "reshape", "rsqrt", "sigmoid", "sin", "softmax", "sort",
    "split", "sqrt", "sqrt_rn", "static_assert", "static_print", "static_range", "store", "store_tensor_descriptor", "sub",
    "sum", "swizzle2d", "tensor", "topk", "trans", "tuple", "uint16", "uint32", "uint64", "uint8", "umulhi", "view", "void",
    "where", "xor_sum", "zeros", "zeros_like", "_experimental_descriptor_load", "_experimental_descriptor_store",
    "_experimental_make_tensor_descriptor",
    // Inductor's helpers
    "promote_to_tensor", "div_floor_integer", "remainder_integer", "is_floating", "prod", "min2", "max2", "minimum_with_index",
    "maximum_with_index", "min_with_index", "max_with_index", "online_softmax_reduce", "online_softmax_combine",
    "welford_reduce", "welford_combine", "welford", "device_assert_then", "randint64", "any", "bucketize_binary_search",
    "pack_value_flag", "unpack_value", "unpack_flag", "exclusive_scan_decoupled_lookback",
    "exclusive_scan_decoupled_lookback_64", "frexp", "sort_with_index", "select_one", "x_grid_barrier",
    "constexpr_next_power_of_2", "if_mask", "next_power_of_2",
    // tensors, pointers, block pointers
    "T", "element_ty", "shape", "to", "type", "numel", "value", "item", "scalar", "is_floating", "is_fp8", "primitive_bitwidth",
    "is_ptr", "data_ptr", "store_block"};

// Modules and names that Triton, and kernels that Inductor generates, import.
constexpr std::pair<std::string_view, std::string_view> kImports[] = {
    {"", "triton"},
    {"", "triton.language"},
    {"triton", "language"},
    {"triton", "jit"},
    {"triton", "cdiv"},
    {"triton", "next_power_of_2"},
    {"triton.language", "math"},
    {"triton.language.extra", "libdevice"},
    {"triton.language.extra.cuda", "libdevice"},
    {"triton.compiler.compiler", "AttrsDescriptor"},
    {"triton.backends.compiler", "AttrsDescriptor"},
    {"torch._inductor", "triton_helpers"},
    {"torch._inductor", "triton_heuristics"},
    {"torch._inductor.runtime", "triton_helpers"},
    {"torch._inductor.runtime", "triton_heuristics"},
    {"torch._inductor.runtime.triton_helpers", "libdevice"},
    {"torch._inductor.runtime.triton_helpers", "math"},
    {"torch._inductor.triton_helpers", "libdevice"},
    {"torch._inductor.triton_helpers", "math"},
    {"torch._inductor.runtime.triton_heuristics", "AutotuneHint"},
    {"torch._inductor.triton_heuristics", "AutotuneHint"},
    {"torch._inductor.ir", "ReductionHint"},
    {"torch._inductor.ir", "TileHint"},
    {"torch._inductor.utils", "instance_descriptor"},
    {"torch._inductor.runtime.hints", "AutotuneHint"},
    {"torch._inductor.runtime.hints", "ReductionHint"},
    {"torch._inductor.runtime.hints", "TileHint"},
    {"torch._inductor.runtime.hints", "DeviceProperties"},
    {"torch._inductor.runtime.hints", "instance_descriptor"},
    {"torch._inductor.runtime.hints", "HeuristicType"},
};

constexpr std::string_view kDeviceLibraries[] = {"libdevice", "math"};

constexpr std::string_view kDecoratorWords[] = {"AttrsDescriptor",
                                                "AutotuneHint",
                                                "DeviceProperties",
                                                "False",
                                                "None",
                                                "ReductionHint",
                                                "TileHint",
                                                "True",
                                                "HeuristicType",
                                                "instance_descriptor",
                                                "set",
                                                "__file__"};

constexpr std::string_view kHeuristics[] = {
    "pointwise", "reduction", "persistent_reduction", "cooperative_reduction", "split_scan",
    "template",  "foreach",   "user_autotune",        "fixed_config"};

constexpr std::string_view kKeywords[] = {"if", "elif", "else",  "for",  "in",     "while", "and",   "or",     "not",
                                          "is", "True", "False", "None", "return", "pass",  "break", "assert", "continue"};

constexpr std::string_view kBuiltins[] = {"range", "len", "min",   "max",  "int",  "float",
                                          "bool",  "abs", "tuple", "list", "print"};

constexpr std::string_view kReaching[] = {"getattr", "setattr",    "delattr", "hasattr", "isinstance", "eval", "exec",
                                          "compile", "open",       "globals", "locals",  "vars",       "dir",  "input",
                                          "type",    "breakpoint", "super",   "object",  "memoryview", "iter", "next"};

bool holds(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

bool is_triton_attribute(std::string_view name) { return holds(kAttributes, name); }

bool is_triton_import(std::string_view from, std::string_view name) {
  return std::ranges::find(kImports, std::pair(from, name)) != std::end(kImports);
}

bool is_device_library(std::string_view from, std::string_view name) {
  return !from.empty() && holds(kDeviceLibraries, name) && is_triton_import(from, name);
}

bool is_decorator_word(std::string_view name) { return holds(kDecoratorWords, name); }
bool is_heuristic(std::string_view name) { return holds(kHeuristics, name); }
bool is_body_keyword(std::string_view name) { return holds(kKeywords, name); }
bool is_body_builtin(std::string_view name) { return holds(kBuiltins, name); }

bool is_reaching_builtin(std::string_view name) { return holds(kReaching, name); }

}  // namespace ridge
