// By source where there is one, else by roles; templates by their formula.
#include "cost/triton/triton_cost.h"

#include <algorithm>
#include <cmath>

#include "cost/triton/kernel_source_reader.h"
#include "cost/triton/triton_arguments.h"
#include "cost/triton/triton_ops.h"
#include "cost/triton/triton_roles.h"
#include "cost/triton/triton_template.h"

namespace ridge {
namespace {

constexpr double kForeachBlock = 1024;  // elements; Inductor's own choice where kernel_kwargs names none

bool is_float(DType dtype) {
  return dtype != DType::unknown && (dtype <= DType::f4 || dtype == DType::c64 || dtype == DType::c128);
}

DType widest_tensor(const TritonArguments& arguments) {
  const TritonPointer* most = nullptr;
  const auto heavier = [](const TritonPointer& a, const TritonPointer& b) {
    const bool fa = is_float(a.shape->dtype), fb = is_float(b.shape->dtype);
    return fa != fb ? fa : a.bytes > b.bytes;
  };
  for (const TritonPointer& p : arguments.pointers)
    if (most == nullptr || heavier(p, *most)) most = &p;
  return most != nullptr ? most->shape->dtype : DType::unknown;
}

// The op's arguments are the kernel's when the op was made for the launch: named as the kernel, or with the kernel's own
// arguments.
bool launched_by_its_own_op(const TritonLaunch& launch) {
  const std::string_view op = launch.call->op;
  return op.starts_with("triton_") || op == launch.kernel || !launch.kernel_kwargs.empty() || launch.source != nullptr;
}

const SourceParameter* parameter_at(const KernelText& text, std::size_t position) {
  for (const SourceParameter& parameter : text.parameters)
    if (!parameter.constant && position-- == 0) return &parameter;
  return nullptr;
}

double accessed_bytes(const std::vector<SourceAccess>& accesses, const TritonPointer& p) {
  double sum = 0;
  for (const SourceAccess& access : accesses) sum += reached_bytes(access.index, p.item, p.bytes / p.item, access.steps);
  return std::min(sum, p.bytes);
}

// What the source does with each pointer. Nothing when the text does not fit the launch.
std::optional<TritonTraffic> traffic_by_source(const TritonArguments& arguments, const KernelText& text) {
  TritonTraffic out;
  bool touched = false;
  for (const auto* pointers : {&arguments.pointers, &arguments.workspaces}) {
    for (const TritonPointer& p : *pointers) {
      const SourceParameter* parameter = parameter_at(text, p.position);
      if (parameter == nullptr) return std::nullopt;
      if (p.item == 0) continue;  // empty
      out.read += accessed_bytes(parameter->loads, p);
      out.written += accessed_bytes(parameter->stores, p);
      touched = touched || parameter->read() || parameter->written();
    }
  }
  return touched ? std::optional(out) : std::nullopt;
}

// A kernel that the user wrote passes its outputs where its author liked; most often last.
std::optional<TritonTraffic> traffic_of_user_kernel(const TritonArguments& arguments) {
  if (arguments.pointers.size() < 2) return std::nullopt;
  TritonTraffic out{.ambiguous = true};
  for (const TritonPointer& p : arguments.pointers) (&p == &arguments.pointers.back() ? out.written : out.read) += p.bytes;
  return out;
}

std::optional<TritonTraffic> traffic_by_shapes(const TritonLaunch& launch, const TritonArguments& arguments, Category category,
                                               const FusedOps& ops) {
  if (arguments.pointers.empty()) return std::nullopt;
  if (category == Category::triton_user) return traffic_of_user_kernel(arguments);
  if (arguments.space) {
    const TritonRoles roles = infer_roles(arguments, ops, launch.kernel_num_gb);
    TritonTraffic out = traffic_of(arguments, ops, roles, launch.cache);
    out.ambiguous = out.ambiguous || roles.ambiguous;
    return out;
  }
  if (!launch.grid || launch.grid->x <= 0) return std::nullopt;
  const auto block = kernel_kwarg(launch.kernel_kwargs, "XBLOCK");
  return foreach_traffic(arguments, static_cast<double>(launch.grid->x),
                         block && *block > 0 ? static_cast<double>(*block) : kForeachBlock);
}

void set_traffic(LaunchCost* cost, double read, double written, Estimate estimate) {
  if (!std::isfinite(read) || !std::isfinite(written)) return;
  cost->bytes_read = read;
  cost->bytes_written = written;
  cost->estimate = estimate;
}

std::optional<KernelText> text_of(const TritonLaunch& launch, const TritonArguments& arguments) {
  if (launch.source == nullptr) return std::nullopt;
  return read_kernel_text(*launch.source, launch.call->op, arguments.scalars);
}

LaunchCost cost_of_template(const TritonLaunch& launch, const TritonArguments& arguments, const KernelIdentity& identity) {
  LaunchCost out;
  const auto found = template_cost(arguments, identity.fused_ops, launch.kernel_flop);
  if (!found) return out;
  out.dtype = found->dtype;
  if (found->flops && std::isfinite(*found->flops)) out.flops = found->flops;
  if (arguments.complete) set_traffic(&out, found->read, found->written, Estimate::shapes);
  if (out.flops) out.estimate = Estimate::shapes;
  const auto text = text_of(launch, arguments);
  if (text && text->tf32 && out.dtype == DType::f32) out.dtype = DType::tf32;
  return out;
}

LaunchCost cost_of_generated(const TritonLaunch& launch, const TritonArguments& arguments, const KernelIdentity& identity) {
  const FusedOps ops = fused_ops(identity.fused_ops);
  const bool user = identity.category == Category::triton_user;
  LaunchCost out;
  out.dtype = widest_tensor(arguments);
  if (arguments.complete) {
    const auto text = text_of(launch, arguments);
    const auto by_source = text ? traffic_by_source(arguments, *text) : std::nullopt;
    const auto traffic = by_source ? by_source : traffic_by_shapes(launch, arguments, identity.category, ops);
    if (traffic)
      set_traffic(&out, traffic->read, traffic->written,
                  by_source            ? Estimate::source
                  : traffic->ambiguous ? Estimate::ambiguous
                                       : Estimate::shapes);
  }
  if (user) return out;
  out.flops = 0;
  if (out.estimate == Estimate::none) out.estimate = Estimate::shapes;
  if (arguments.space && std::isfinite(arguments.space->all()))
    out.flops_pointwise = ops.flops_per_element * arguments.space->all();
  return out;
}

}  // namespace

bool is_triton(Category category) { return category <= Category::triton_other; }

LaunchCost triton_cost(const TritonLaunch& launch) {
  if (launch.call == nullptr || !launch.call->has_shapes || !launched_by_its_own_op(launch)) return {};
  KernelIdentity told;
  if (launch.identity == nullptr)
    told = identify_kernel(launch.kernel, DeviceWork::kernel, launch.call->op, LaunchHint::triton_op);
  const KernelIdentity& identity = launch.identity != nullptr ? *launch.identity : told;
  const TritonArguments arguments = triton_arguments(*launch.call, identity.category, launch.kernel_kwargs);
  if (arguments.pointers.empty()) return {};
  return identity.category == Category::triton_template ? cost_of_template(launch, arguments, identity)
                                                        : cost_of_generated(launch, arguments, identity);
}

}  // namespace ridge
