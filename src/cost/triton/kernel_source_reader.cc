// Line by line: the signature, the sizes of the walked space, loads and stores with their indices.
#include "cost/triton/kernel_source_reader.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <utility>

namespace ridge {
namespace {

constexpr std::size_t kMostAccesses = 512;  // of one parameter; more and the whole tensor is meant
constexpr std::string_view kNumels[] = {"xnumel", "ynumel", "znumel", "r0_numel", "r1_numel"};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view leading_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_name(text[end])) ++end;
  return text.substr(0, end);
}

// Where the parameters of the kernel begin: behind "def NAME(", or behind the first def under @triton.jit.
std::size_t find_parameters(std::string_view text, std::string_view kernel) {
  const std::string definition = "def " + std::string(kernel) + "(";
  std::size_t at = kernel.empty() ? std::string_view::npos : text.find(definition);
  if (at != std::string_view::npos) return at + definition.size();
  at = text.find("@triton.jit");
  if (at != std::string_view::npos) at = text.find("def ", at);
  if (at != std::string_view::npos) at = text.find('(', at);
  return at == std::string_view::npos ? at : at + 1;
}

std::vector<SourceParameter> read_parameters(std::string_view list) {
  std::vector<SourceParameter> out;
  while (!list.empty()) {
    const std::string_view one = trimmed(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(list.find(','), list.size() - 1) + 1);
    const std::string_view name = leading_name(one);
    if (!name.empty())
      out.push_back(
          {.name = std::string(name), .constant = one.find("constexpr") != std::string_view::npos, .loads = {}, .stores = {}});
  }
  return out;
}

// The indented lines that follow the parameters.
std::string_view body_of(std::string_view text, std::size_t begin) {
  std::size_t at = text.find('\n', begin);
  const std::size_t first = at;
  while (at != std::string_view::npos && at + 1 < text.size()) {
    const char c = text[at + 1];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') break;
    at = text.find('\n', at + 1);
  }
  if (first == std::string_view::npos) return {};
  return text.substr(first, at == std::string_view::npos ? at : at - first);
}

bool same(const IndexExpression& a, const IndexExpression& b) {
  const auto equal = [](const IndexTerm& s, const IndexTerm& t) {
    return s.variable == t.variable && s.stride == t.stride && s.extent == t.extent;
  };
  return a.known == b.known && a.constant == b.constant &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), equal);
}

class Walk {
 public:
  Walk(KernelText* kernel, std::span<const std::optional<std::int64_t>> scalars) : kernel_(*kernel) {
    std::size_t position = 0;
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const SourceParameter& parameter = kernel_.parameters[i];
      if (parameter.constant) continue;
      if (position < scalars.size() && scalars[position])
        names_[parameter.name] = {.terms = {}, .constant = static_cast<double>(*scalars[position])};
      else
        pointers_[parameter.name] = i;
      ++position;
    }
  }

  void line(std::string_view line) {
    line = trimmed(line);
    if (line.empty() || line.front() == '#') return;
    accesses(line);
    const std::string_view name = leading_name(line);
    std::string_view rest = trimmed(line.substr(name.size()));
    if (name.empty()) return;
    if (name == "ALLOW_TF32" && rest.ends_with("= True")) kernel_.tf32 = true;
    if (rest.starts_with("=") && !rest.starts_with("==")) assign(name, trimmed(rest.substr(1)));
  }

 private:
  void accesses(std::string_view line) {
    static constexpr std::pair<std::string_view, int> kCalls[] = {{"load(", 1}, {"store(", 2}};
    for (const auto& [call, kind] : kCalls)
      for (std::size_t at = line.find(call); at != std::string_view::npos; at = line.find(call, at + 1))
        access(line, at, line.substr(at + call.size()), kind);
    for (std::size_t at = line.find("tl.atomic_"); at != std::string_view::npos; at = line.find("tl.atomic_", at + 1)) {
      const std::size_t open = line.find('(', at);
      if (open != std::string_view::npos) access(line, at + 3, line.substr(open + 1), 3);
    }
  }

  // tl.load(in_ptr0 + (x0), mask), or descriptor.load([x, y]). `kind`: 1 load, 2 store, 3 both.
  void access(std::string_view line, std::size_t at, std::string_view arguments, int kind) {
    if (at == 0 || line[at - 1] != '.') return;
    std::size_t owner = at - 1;
    while (owner > 0 && is_name(line[owner - 1])) --owner;
    const std::string_view object = line.substr(owner, at - 1 - owner);
    IndexExpression index{.terms = {}, .constant = 0, .known = false};
    SourceParameter* parameter = object == "tl" ? pointer_in(arguments, &index) : find(object);
    if (parameter == nullptr) return;
    if ((kind & 1) != 0) keep(&parameter->loads, index);
    if ((kind & 2) != 0) keep(&parameter->stores, index);
  }

  // The pointer that an access starts from, and its index.
  SourceParameter* pointer_in(std::string_view arguments, IndexExpression* index) {
    arguments = trimmed(arguments);
    const std::string_view name = leading_name(arguments);
    if (name == "tl") {  // tl.load(tl.make_block_ptr(in_ptr0, ...))
      const std::size_t open = arguments.find('(');
      return open == std::string_view::npos ? nullptr : find(leading_name(trimmed(arguments.substr(open + 1))));
    }
    const auto own = pointers_.find(std::string(name));
    SourceParameter* parameter = find(name);
    const std::string_view rest = trimmed(arguments.substr(name.size()));
    const bool direct = own != pointers_.end() && parameter != nullptr && parameter->name == name;
    if (direct && rest.starts_with("+")) *index = parse_index(rest.substr(1), names_);
    return parameter;
  }

  SourceParameter* find(std::string_view name) {
    const auto found = pointers_.find(std::string(name));
    return found == pointers_.end() ? nullptr : &kernel_.parameters[found->second];
  }

  void keep(std::vector<SourceAccess>* accesses, const IndexExpression& index) {
    const auto equal = [&](const SourceAccess& a) { return same(a.index, index); };
    if (std::any_of(accesses->begin(), accesses->end(), equal)) return;
    if (accesses->size() < kMostAccesses)
      accesses->push_back({index, steps()});
    else
      accesses->back().index.known = false;
  }

  double steps() const {
    double out = 1;
    for (const std::string_view numel : kNumels) {
      const auto found = names_.find(std::string(numel));
      if (found != names_.end() && found->second.is_constant()) out *= std::max(found->second.constant, 1.0);
    }
    return std::min(out, 1e300);
  }

  void assign(std::string_view name, std::string_view value) {
    if (name.starts_with("tmp")) return;
    if (name.ends_with("index") && define_walked(name, value)) return;
    if (alias(name, value)) return;
    std::size_t used = 0;
    IndexExpression expression = parse_index(value, names_, &used);
    if (used != value.size()) expression.known = false;
    names_[std::string(name)] = std::move(expression);
  }

  // xindex takes every value below xnumel, in whatever blocks.
  bool define_walked(std::string_view name, std::string_view value) {
    const bool walked = value.find("offset") != std::string_view::npos || value.find("arange") != std::string_view::npos;
    const auto numel = names_.find(std::string(name.substr(0, name.size() - 5)) + "numel");
    if (!walked || numel == names_.end() || !numel->second.is_constant()) return false;
    names_[std::string(name)] = {.terms = {{std::string(name), std::max(numel->second.constant, 1.0), 1}}, .constant = 0};
    return true;
  }

  // A = arg_A; x_ptrs = x_ptr + offsets; desc = tl.make_tensor_descriptor(in_ptr0, ...).
  bool alias(std::string_view name, std::string_view value) {
    std::string_view from = leading_name(value);
    if (value.starts_with("tl.make_") || value.starts_with("tl._experimental_make_")) {
      const std::size_t open = value.find('(');
      from = open == std::string_view::npos ? from : leading_name(trimmed(value.substr(open + 1)));
    }
    const auto found = pointers_.find(std::string(from));
    if (found == pointers_.end()) return false;
    const std::size_t parameter = found->second;
    pointers_[std::string(name)] = parameter;
    return true;
  }

  KernelText& kernel_;
  IndexNames names_;
  std::unordered_map<std::string, std::size_t> pointers_;  // parameters and what stands for them -> parameter
};

}  // namespace

std::optional<KernelText> read_kernel_text(std::string_view text, std::string_view kernel,
                                           std::span<const std::optional<std::int64_t>> scalars) {
  const std::size_t begin = find_parameters(text, kernel);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = text.find(')', begin);
  if (end == std::string_view::npos) return std::nullopt;

  KernelText out;
  out.parameters = read_parameters(text.substr(begin, end - begin));
  std::string_view body = body_of(text, end);
  Walk walk(&out, scalars);
  while (!body.empty()) {
    const std::size_t newline = std::min(body.find('\n'), body.size());
    walk.line(body.substr(0, newline));
    body.remove_prefix(std::min(newline + 1, body.size()));
  }
  return out;
}

}  // namespace ridge
