// Writes the literals; everything else is text of the runtime's files.
#include "replay/script.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "kernel_names/kernel_facts.h"
#include "kernel_names/plain_float32.h"
#include "replay/python_text.h"
#include "replay/runtime_text.h"
#include "trace/args.h"

namespace ridge {
namespace {

constexpr std::string_view kHead =
    "#!/usr/bin/env python3\n"
    "\"\"\"One call of a trace, alone: ridge replay wrote this from what torch.profiler recorded.\n"
    "\n"
    "  python THIS_FILE                 run it on the GPU and print the times of its kernels\n"
    "  python THIS_FILE --device meta   make the inputs without memory and say what would run\n"
    "\n"
    "make_inputs() and run() are for other programs. CALL says what the trace says.\n"
    "\"\"\"\n"
    "\n"
    "import argparse\n"
    "import ast\n"
    "import json\n"
    "import math\n"
    "import re\n"
    "\n"
    "import torch\n"
    "\n";

std::string text(std::string_view value) {
  std::string out;
  append_python_string(out, value);
  return out;
}

std::string integers(std::span<const std::int64_t> values) {
  std::string out;
  append_python_integers(out, values);
  return out;
}

std::string dim3_or_none(std::string_view json) {
  const auto dims = parse_dim3(json);
  return dims ? fmt::format("[{}, {}, {}]", dims->x, dims->y, dims->z) : "None";
}

// The element type of lists, which the profiler does not record: the kernel's, where its name tells it, else that of the other
// tensors.
std::string list_dtype(const ReplayCall& call) {
  const KernelFacts facts = facts_of(call.launch.kernel);
  if (facts.item != DType::unknown && !facts.item_opaque) return std::string(name_of(facts.item));
  for (const OpArgument& argument : call.call.arguments) {
    if (argument.kind == OpArgument::Kind::tensor && !argument.type.empty()) return argument.type;
  }
  const double bytes = item_bytes(facts.item);
  return bytes == 8 ? "int64" : bytes == 2 ? "bfloat16" : bytes == 1 ? "uint8" : "float32";
}

std::string tensor(const TensorShape& shape, std::string_view dtype) {
  const bool strided = shape.strides.size() == shape.sizes.size();
  return fmt::format("{{\"kind\": \"tensor\", \"shape\": {}, \"strides\": {}, \"dtype\": {}}}", integers(shape.sizes),
                     strided ? integers(shape.strides) : "None", text(dtype));
}

std::string list_of(const ReplayCall& call, const OpArgument& argument) {
  const std::string dtype = list_dtype(call);
  std::string out = "{\"kind\": \"list\", \"tensors\": [\n";
  for (const TensorShape& shape : argument.list) out += "        " + tensor(shape, dtype) + ",\n";
  if (argument.list_left_out) {
    for (const double elements : call.list_sizes)
      out += "        " + tensor({{static_cast<std::int64_t>(elements)}, {}, DType::unknown}, dtype) + ",\n";
  }
  return out + "    ]}";
}

std::string argument_of(const ReplayCall& call, const OpArgument& argument) {
  switch (argument.kind) {
    case OpArgument::Kind::tensor: return tensor(argument.tensor, argument.type.empty() ? "float" : argument.type);
    case OpArgument::Kind::tensor_list: return list_of(call, argument);
    case OpArgument::Kind::value: return fmt::format("{{\"kind\": \"value\", \"value\": {}}}", text(argument.value));
    case OpArgument::Kind::none: break;
  }
  return "{\"kind\": \"none\"}";
}

bool is_identifier(std::string_view name) {
  const auto in_name = [](unsigned char c) { return c == '_' || (c < 0x80 && std::isalnum(c) != 0); };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && std::ranges::all_of(name, in_name);
}

// What each tensor of the call is, for who reads CALL alone.
template <class Member>
std::string tensors(const ReplayCall& call, Member member) {
  std::string out = "[";
  for (const OpArgument& argument : call.call.arguments) {
    const auto add = [&](const TensorShape& shape, std::string_view dtype) {
      out += (out.size() > 1 ? ", " : "") + member(shape, dtype);
    };
    if (argument.kind == OpArgument::Kind::tensor) add(argument.tensor, argument.type);
    for (const TensorShape& shape : argument.list) add(shape, {});
  }
  return out + "]";
}

// Whether float32 products may run on TF32 units: a setting of the whole call. A library that may take them need not do so for
// each of its kernels. Nothing where no name tells.
std::string tf32_or_none(const ReplayCall& call) {
  const bool has_float = std::ranges::any_of(call.call.arguments, [](const OpArgument& a) { return a.type == "float"; });
  if (!has_float) return "None";
  bool plain = false;
  const auto on_tf32 = [&](std::string_view kernel) {
    if (is_plain_float32(kernel)) {
      plain = true;
      return false;
    }
    const KernelFacts facts = facts_of(kernel);
    return facts.dtype == DType::tf32 || facts.tensor_cores_only;
  };
  if (on_tf32(call.launch.kernel)) return "True";
  for (const ReplayLaunch& launch : call.launches) {
    if (on_tf32(launch.kernel)) return "True";
  }
  return plain ? "False" : "None";
}

std::string call_literal(const ReplayCall& call, std::string_view source) {
  std::string out = "CALL = {\n";
  const auto add = [&](std::string_view key, const std::string& literal) {
    out += fmt::format("    \"{}\": {},\n", key, literal);
  };
  add("kernel", text(call.launch.kernel));
  add("op", text(call.op));
  add("shapes", tensors(call, [](const TensorShape& s, std::string_view) { return integers(s.sizes); }));
  add("strides", tensors(call, [](const TensorShape& s, std::string_view) {
        return s.strides.size() == s.sizes.size() ? integers(s.strides) : std::string("None");
      }));
  add("dtypes", tensors(call, [](const TensorShape&, std::string_view dtype) { return python_string_or_none(dtype); }));
  add("grid", dim3_or_none(call.launch.grid));
  add("block", dim3_or_none(call.launch.block));
  add("device", python_string_or_none(call.device));
  add("trace_ns", python_integer_or_none(call.median_ns));
  add("count", std::to_string(call.count));
  add("time_ns", std::to_string(call.time_ns));
  add("tf32", tf32_or_none(call));
  add("source", std::string(source));
  add("note", python_string_or_none(call.note));
  std::string launches = "[\n";
  for (const ReplayLaunch& launch : call.launches) {
    launches += fmt::format("        {{\"name\": {}, \"grid\": {}, \"block\": {}}},\n", text(launch.kernel),
                            dim3_or_none(launch.grid), dim3_or_none(launch.block));
  }
  add("launches", launches + "    ]");
  return out + "}\n";
}

std::string arguments_literal(const ReplayCall& call) {
  std::string out = "ARGUMENTS = [\n";
  for (const OpArgument& argument : call.call.arguments) out += "    " + argument_of(call, argument) + ",\n";
  return out + "]\n";
}

std::string with_runtime(std::string head, std::string_view part) {
  for (const std::string_view name : {std::string_view("inputs"), part, std::string_view("main")}) {
    head += "\n";
    head += replay_runtime(name);
  }
  return head;
}

}  // namespace

std::string op_script(const ReplayCall& call) {
  std::string out(kHead);
  out +=
      "# What the trace says of the call: `trace_ns` is the median of one launch of the kernel, `launches` are all kernels of\n"
      "# one call, in order.\n";
  out += call_literal(call, "None");
  out += "\n# The arguments in the order of the op's schema. A \"value\" stands as the profiler wrote it.\n";
  out += arguments_literal(call);
  return with_runtime(std::move(out), "op");
}

std::string triton_script(const ReplayCall& call, const TritonSource& source) {
  std::string out(kHead);
  out += "# What the trace says of the launch.\n";
  out += call_literal(call, fmt::format("{{\"hash\": {}, \"match\": \"{}\"}}", python_string_or_none(call.source.kernel_hash),
                                        name_of(source.match)));
  out += "\n# The kernel's arguments: tensors, then numbers, in the order of its signature.\n";
  out += arguments_literal(call);
  out += "\n# The configuration that the trace ran.\nCONSTANTS = {";
  // "XBLOCK=2,R0_BLOCK=2048": only whole numbers are taken.
  std::string_view kwargs = call.source.kernel_kwargs;
  while (!kwargs.empty()) {
    const std::string_view one = kwargs.substr(0, kwargs.find(','));
    kwargs.remove_prefix(std::min(one.size() + 1, kwargs.size()));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || !is_identifier(one.substr(0, equals))) continue;
    const std::string_view digits = one.substr(equals + 1);
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string_view::npos) continue;
    out += fmt::format("{}: {}, ", text(one.substr(0, equals)), std::stol(std::string(digits)));
  }
  out += "}\nOPTIONS = {";
  if (call.source.num_warps) out += fmt::format("\"num_warps\": {}, ", *call.source.num_warps);
  if (call.source.num_stages) out += fmt::format("\"num_stages\": {}, ", *call.source.num_stages);
  out += "}\n";
  out += fmt::format("INDEX_LIMIT = {}  # integer inputs stay below it; None: they are zeros\n",
                     python_integer_or_none(source.index_limit));
  out += "\n# The kernel, from a file that the user named.\nFUNCTION = " + text(source.function) + "\nSOURCE = ";
  append_python_block(out, source.text);
  out += "\n";
  return with_runtime(std::move(out), "triton");
}

}  // namespace ridge
