// Taking C++ names apart by their brackets; demangling, and spelling out what cannot be demangled.
#include "kernel_names/kernel_name.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <cxxabi.h>

namespace ridge {
namespace {

bool contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void erase_all(std::string* text, std::string_view part) {
  std::string kept;
  std::size_t from = 0;
  for (std::size_t at = text->find(part); at != std::string::npos; at = text->find(part, from)) {
    kept.append(*text, from, at - from);
    from = at + part.size();
  }
  if (from > 0) *text = kept.append(*text, from);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Walks brackets of all sorts; calls `at(i)` for each character outside of them and stops when it says so.
template <class At>
void walk_top(std::string_view text, At at) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && at(i)) return;
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if ((c == '>' && i > 0 && text[i - 1] != '-') || c == ')' || c == '}' || c == ']') depth = std::max(0, depth - 1);
  }
}

std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(' || text[i] == '{' || text[i] == '[') ++depth;
    if (text[i] == '>' || text[i] == ')' || text[i] == '}' || text[i] == ']') {
      if (--depth == 0) return i;
    }
  }
  return text.size();
}

// A mangled name refers to what it spelled before (S1_, T0_), which may hold such references itself: k of them in each of n
// levels make k^n copies, at most 3^(r/3) with r references in all. A pack (Dp) is written out element by element.
bool grows_without_bound(std::string_view name) {
  constexpr double kMostBytes = 1 << 20;
  constexpr double kReferencesOfAPack = 12;  // 81 copies
  double references = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name.substr(i, 2) == "Dp") references += kReferencesOfAPack;
    if (name[i] != 'S' && name[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < name.size() && (is_digit(name[end]) || (name[end] >= 'A' && name[end] <= 'Z'))) ++end;
    if (end < name.size() && name[end] == '_') ++references;
    i = end - 1;
  }
  return static_cast<double>(name.size()) * std::pow(3, references / 3) > kMostBytes;
}

// Empty where it fails, and where the text would be huge.
std::string demangle(const std::string& name) {
  if (grows_without_bound(name)) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : std::string();
}

constexpr std::string_view kShells[] = {"Kernel", "Kernel2", "kentry", "device_kernel"};  // their argument is the kernel

// Past what may stand before an identifier in a mangled template argument: literals (Li1E), nesting (N), substitutions (S_,
// S1_).
std::size_t skip_to_identifier(std::string_view name, std::size_t i) {
  while (i < name.size() && !is_digit(name[i])) {
    if (name[i] == 'L') {
      i = std::min(name.find('E', i), name.size() - 1);
    } else if (name[i] == 'S') {
      i = std::min(name.find('_', i), name.size() - 1);
    }
    ++i;
  }
  return i;
}

// What a name that cannot be demangled (cut off, or of vendor types) spells: "_ZN2ck6device4gemmI..." -> ck::device::gemm. A
// shell's name is followed by what it holds.
std::string spelled(std::string_view name) {
  std::string out, last;
  std::size_t i = skip_to_identifier(name, 2);
  while (i < name.size()) {
    if (!is_digit(name[i])) {
      if (name[i] != 'I' || !contains(kShells, last)) break;
      i = skip_to_identifier(name, i + 1);
      continue;
    }
    std::size_t length = 0;
    for (; i < name.size() && is_digit(name[i]) && length < 10000; ++i)
      length = length * 10 + static_cast<std::size_t>(name[i] - '0');
    last = name.substr(std::min(i, name.size()), length);
    i += length;
    if (!last.starts_with("_GLOBAL_")) out += (out.empty() ? "" : "::") + last;
  }
  return out;
}

std::string without_parameters(const std::string& text) {
  std::size_t end = text.size();
  walk_top(text, [&](std::size_t i) {
    if (text[i] != '(' || i == 0) return false;
    const std::size_t close = closing(text, i);
    if (text.compare(std::min(close + 1, text.size()), 2, "::") == 0) return false;  // a function around a local name
    if (text.compare(std::min(close + 1, text.size()), 1, "(") == 0) return false;   // operator()(...)
    end = i;
    return true;
  });
  return text.substr(0, end);
}

std::string last_word(const std::string& text) {
  std::size_t from = 0;
  walk_top(text, [&](std::size_t i) {
    if (text[i] == ' ') from = i + 1;
    return false;
  });
  return text.substr(from);
}

std::string_view last_part(std::string_view qualified) {
  const std::size_t colons = qualified.rfind("::");
  return colons == std::string_view::npos ? qualified : qualified.substr(colons + 2);
}

std::vector<std::string_view> split_arguments(std::string_view arguments) {
  std::vector<std::string_view> parts;
  std::size_t from = 0;
  walk_top(arguments, [&](std::size_t i) {
    if (arguments[i] == ',') {
      parts.push_back(trim(arguments.substr(from, i - from)));
      from = i + 1;
    }
    return false;
  });
  if (!trim(arguments.substr(from)).empty()) parts.push_back(trim(arguments.substr(from)));
  return parts;
}

constexpr std::string_view kElementTypes[] = {
    "float",           "double",       "Half",          "BFloat16",       "half_t", "bfloat16_t",    "tfloat32_t",
    "__half",          "half",         "__nv_bfloat16", "__hip_bfloat16", "bf16_t", "Float8_e4m3fn", "Float8_e5m2",
    "Float8_e4m3fnuz", "float_e4m3_t", "float_e5m2_t"};
constexpr std::string_view kPlainTypes[] = {"int",          "long",          "bool",          "char",        "short",
                                            "unsigned int", "unsigned long", "unsigned char", "signed char", "long long",
                                            "void",         "true",          "false"};

bool is_element_type(std::string_view word) { return contains(kElementTypes, last_part(word)); }

// Distinct element types among the identifiers of a text, in order: "<float, BFloat16>"; empty when there are none.
std::string element_types(std::string_view text) {
  std::vector<std::string_view> types;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_identifier(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    if (is_element_type(word) && !contains(types, word) && types.size() < 3) types.push_back(word);
    i = std::max(end, i + 1);
  }
  std::string out;
  for (const std::string_view type : types) out += (out.empty() ? "<" : ", ") + std::string(type);
  return out.empty() ? out : out + ">";
}

// Templates that only carry the functor, and arguments that are none.
constexpr std::string_view kWrappers[] = {"gpu_kernel_impl",
                                          "gpu_kernel_impl_nocast",
                                          "gpu_index_kernel",
                                          "BinaryFunctor",
                                          "AUnaryFunctor",
                                          "BUnaryFunctor",
                                          "ReduceOp",
                                          "func_wrapper_t",
                                          "opmath_gpu_kernel_with_scalars",
                                          "_cuda_scatter_gather_internal_kernel"};
constexpr std::string_view kNoFunctors[] = {"TensorListMetadata",
                                            "TensorListScalarListMetadata",
                                            "FusedOptimizerTensorListMetadata",
                                            "array",
                                            "Array",
                                            "TensorInfo",
                                            "OpaqueType",
                                            "integral_constant",
                                            "OffsetCalculator"};

struct Functor {
  std::string name;
  std::string types;
};

Functor find_functor(std::string_view argument, int depth) {
  if (depth > 8 || argument.empty() || !is_identifier(argument[0]) || is_digit(argument[0])) return {};
  if (contains(kPlainTypes, argument) || is_element_type(argument)) return {};
  const std::size_t end = argument.find_first_of("<(");
  const std::string_view name = last_part(trim(argument.substr(0, end)));
  if (contains(kNoFunctors, name)) return {};
  std::string_view inner;
  if (end != std::string_view::npos && argument[end] == '<') inner = argument.substr(end + 1, closing(argument, end) - end - 1);
  if (contains(kWrappers, name)) {
    for (const std::string_view part : split_arguments(inner)) {
      if (Functor found = find_functor(part, depth + 1); !found.name.empty()) return found;
    }
    return {};
  }
  std::string types = element_types(inner);
  if (types.empty()) {  // the type that its lambda takes
    const std::size_t lambda = argument.rfind("{lambda(");
    if (lambda != std::string_view::npos)
      types = element_types(argument.substr(lambda + 8, argument.find(')', lambda) - lambda - 8));
  }
  return {std::string(name), types};
}

}  // namespace

std::string_view cut_kernel_name(std::string_view name) {
  if (name.size() <= kLongestKernelName) return name;
  std::size_t end = kLongestKernelName;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end);
}

KernelName take_apart(std::string_view name) {
  KernelName parts;
  parts.text = name;
  if (name.starts_with("_Z")) {
    parts.text = demangle(parts.text);
    if (parts.text.empty()) parts.text = spelled(name);
    if (parts.text.empty()) parts.text = name;
  }
  parts.plain = std::all_of(parts.text.begin(), parts.text.end(), is_identifier);
  erase_all(&parts.text, "(anonymous namespace)::");
  parts.text = last_word(without_parameters(parts.text));
  if (parts.text.starts_with('<')) {  // "<unnamed>": brackets around a name, not a template's
    parts.text = parts.head = parts.base = name;
    return parts;
  }
  const std::size_t open = parts.text.find('<');
  parts.head = parts.text.substr(0, open);
  if (open != std::string::npos) parts.arguments = parts.text.substr(open + 1, closing(parts.text, open) - open - 1);
  parts.base = last_part(parts.head);
  if (parts.text.empty()) parts.text = parts.head = parts.base = name;
  return parts;
}

std::string functor_of(std::string_view arguments) {
  std::string label;
  for (const std::string_view argument : split_arguments(arguments)) {
    const Functor functor = find_functor(argument, 0);
    if (functor.name.empty()) continue;
    if (!label.empty()) return label + " " + functor.name;
    label = functor.name + functor.types;
    if (!functor.name.ends_with("OpScalarFunctor") && !functor.name.ends_with("OpListAlphaFunctor") &&
        !functor.name.ends_with("OpFunctor"))
      break;
  }
  return label;
}

std::string short_name(const KernelName& name) {
  if (contains(kShells, name.base)) {
    for (const std::string_view argument : split_arguments(name.arguments)) {
      if (!is_identifier(argument[0]) || is_digit(argument[0]) || contains(kPlainTypes, argument) || is_element_type(argument))
        continue;
      return short_name(take_apart(argument));
    }
  }
  const std::size_t qualifier = name.head.size() - name.base.size();
  std::string short_base = name.base;
  if (short_base == "kernel" && qualifier > 2)
    short_base = std::string(last_part(std::string_view(name.head).substr(0, qualifier - 2))) + "::kernel";
  return short_base + element_types(name.arguments);
}

}  // namespace ridge
