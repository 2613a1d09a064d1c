// One pass over the host's slices. A frame called `kernel` has no name: the n-th that a module's run calls is the n-th call of
// a CPU kernel in the module's source, where that is at hand and has as many.
#include "facts/cpu_kernel_list.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturating.h"
#include "model/cpu_kernels.h"
#include "model/name_flags.h"

namespace ridge {
namespace {

bool is_name_char(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class CpuKernelReader {
 public:
  explicit CpuKernelReader(const Scope& scope)
      : scope_(scope), trace_(scope.trace()), tree_(scope.model().tree()), regions_(scope.model().compiled_regions()) {}

  std::vector<CpuKernelCost> list() {
    const NameFlags may_be(trace_, may_be_cpu_kernel);
    if (!may_be.any()) return {};
    std::map<NodeId, std::vector<NodeId>> by_caller;  // unnamed ones, by the run of a module that calls them
    for (const HostThread& thread : tree_.threads) {
      std::int64_t covered_ns = INT64_MIN;
      for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
        const NodeId node{n};
        if (!may_be[trace_.events.name(tree_.event[n])] || tree_.start_ns[n] < covered_ns) continue;
        if (!is_cpu_kernel(trace_, tree_, node)) continue;
        covered_ns = tree_.end_ns[n];
        const CpuKernelName name = name_cpu_kernel(trace_, tree_, node);
        if (name.kernel == kCpuKernelFrame) {
          by_caller[tree_.parent[n]].push_back(node);
        } else {
          add(node, name.kernel, name.file);
        }
      }
    }
    for (const auto& [caller, kernels] : by_caller) name_by_source(kernels);
    return take();
  }

 private:
  void name_by_source(const std::vector<NodeId>& kernels) {
    const std::string_view file = name_cpu_kernel(trace_, tree_, kernels.front()).file;
    const std::vector<std::string_view>& names = calls_in(file);
    for (std::size_t i = 0; i < kernels.size(); ++i)
      add(kernels[i], names.size() == kernels.size() ? names[i] : kCpuKernelFrame, file);
  }

  const std::vector<std::string_view>& calls_in(std::string_view file) {
    const auto [it, added] = sources_.try_emplace(file);
    const KernelSources* sources = scope_.costs().options().sources;
    if (added && sources != nullptr) {
      it->second.text = sources->find(file).value_or("");
      it->second.calls = cpu_kernel_calls(it->second.text);
    }
    return it->second.calls;
  }

  void add(NodeId node, std::string_view kernel, std::string_view file) {
    if (!scope_.holds(node) || !scope_.matches(kernel)) return;
    const std::uint32_t call = regions_.call_at(node);
    const std::string_view key = call == kNoCall ? std::string_view() : regions_.calls[call].key;
    const CompileId id = call == kNoCall ? CompileId{} : regions_.calls[call].id;
    CpuKernelCost& row = rows_[{kernel, file, key, id}];
    if (row.calls == 0) {
      row.kernel = kernel;
      row.file = file;
      row.call = call;
    }
    ++row.calls;
    saturating_add(&row.cpu_ns, tree_.duration_ns(node));
  }

  std::vector<CpuKernelCost> take() {
    std::vector<CpuKernelCost> list;
    for (auto& [key, row] : rows_) list.push_back(std::move(row));
    std::stable_sort(list.begin(), list.end(),
                     [](const CpuKernelCost& a, const CpuKernelCost& b) { return a.cpu_ns > b.cpu_ns; });
    return list;
  }

  struct Source {
    std::string text;
    std::vector<std::string_view> calls;
  };

  const Scope& scope_;
  const Trace& trace_;
  const CallTree& tree_;
  const CompiledRegions& regions_;
  std::map<std::string_view, Source> sources_;  // by file
  std::map<std::tuple<std::string_view, std::string_view, std::string_view, CompileId>, CpuKernelCost> rows_;
};

}  // namespace

std::vector<CpuKernelCost> list_cpu_kernels(const Scope& scope) { return CpuKernelReader(scope).list(); }

std::vector<std::string_view> cpu_kernel_calls(std::string_view module_source) {
  constexpr std::string_view kPrefix = "cpp_fused_";
  std::vector<std::string_view> calls;
  for (std::size_t from = 0; from < module_source.size();) {
    const std::size_t end = std::min(module_source.find('\n', from), module_source.size());
    std::string_view line = module_source.substr(from, end - from);
    from = end + 1;
    const std::size_t text = line.find_first_not_of(' ');
    if (text == 0 || text == line.npos) continue;  // a definition; calls stand inside a function
    line.remove_prefix(text);
    if (!line.starts_with(kPrefix)) continue;
    std::size_t length = 0;
    while (length < line.size() && is_name_char(line[length])) ++length;
    if (length < line.size() && line[length] == '(') calls.push_back(line.substr(0, length));
  }
  return calls;
}

}  // namespace ridge
