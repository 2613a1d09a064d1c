// From a name to its description: the row of the table, the ops in an Inductor kernel's name, a label for a person.
#include "kernel_names/kernel_description.h"

#include "kernel_names/kernel_name.h"
#include "kernel_names/kernel_rules.h"
#include "ops/known_ops.h"

namespace ridge {
namespace {

// "triton_poi_fused__to_copy_add_3" -> "_to_copy_add". Old releases end the name in "_0d1d2de" and the like.
std::string_view fused_part(std::string_view name) {
  const std::size_t fused = name.find("_fused_");
  if (fused == std::string_view::npos) return {};
  std::string_view part = name.substr(fused + 7);
  while (!part.empty()) {
    const std::size_t underscore = part.rfind('_');
    const std::string_view tail = part.substr(underscore == std::string_view::npos ? 0 : underscore + 1);
    if (tail.empty() || tail.find_first_not_of("0123456789dce") != std::string_view::npos || tail[0] < '0' || tail[0] > '9')
      break;
    part = part.substr(0, underscore == std::string_view::npos ? 0 : underscore);
  }
  return part;
}

// A Python function's name: what a Triton kernel of the user has.
bool looks_like_python(const KernelName& name) {
  return name.plain && !name.base.empty() && (name.base[0] < '0' || name.base[0] > '9');
}

// What a rule's family says of the functor in the template, "elementwise CUDAFunctor_add<float>"; empty where there is none.
std::string functor_label(const KernelName& name, const KernelRule& rule) {
  const bool general = name.head.find("elementwise_kernel") != std::string::npos;  // its name tells less than its functor's
  const std::string_view family = rule.family.empty() && general ? "elementwise" : rule.family;
  const std::string functor = family.empty() ? "" : functor_of(name.arguments);
  return functor.empty() ? "" : std::string(family) + " " + functor;
}

}  // namespace

KernelDescription describe_kernel(std::string_view whole_name) {
  const std::string_view name = cut_kernel_name(whole_name);
  const KernelName parts = take_apart(name);
  const KernelRule* rule = find_kernel_rule(parts);
  KernelDescription out;
  out.python = looks_like_python(parts);
  if (rule != nullptr) {
    out.known = true;
    out.category = rule->category;
    out.library = rule->library;
    out.helper = rule->helper;
    if (rule->library == "inductor") {
      out.label = name;
      out.fused_ops = split_op_names(fused_part(name));
      return out;
    }
    out.label = functor_label(parts, *rule);
  }
  if (out.label.empty()) out.label = short_name(parts);
  return out;
}

KernelDescription describe_user_triton(std::string_view name) {
  return {Category::triton_user, "triton", std::string(cut_kernel_name(name)), {}, false, true, true};
}

bool is_short_triton(std::string_view name) {
  return name.starts_with("triton_") && name.find_first_not_of("_0123456789dce", 6) == std::string_view::npos;
}

}  // namespace ridge
