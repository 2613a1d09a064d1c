// Names of device functions as text: C++ names taken apart, and a form that a person can read. Knows nothing of what kernels
// do.
#pragma once

#include <string>
#include <string_view>

namespace ridge {

// No kernel's name is nearly as long. What tells kernels apart looks each name over for hundreds of words: it gets no more of a
// name than this, without the bytes of a character that is cut.
inline constexpr std::size_t kLongestKernelName = 65'536;
std::string_view cut_kernel_name(std::string_view name);

// "void at::native::(anonymous namespace)::f<4, X<float> >(int, float*)" -> text "at::native::f<4, X<float> >", head
// "at::native::f", base "f", arguments "4, X<float> ". A mangled name is demangled first; where that fails, the identifiers
// that it spells. Other names (triton_poi_fused_add_0, sm90_xmma_gemm_...) are their own text, head and base.
struct KernelName {
  std::string text;
  std::string head;
  std::string base;       // without namespaces
  std::string arguments;  // of the template; empty when there are none
  bool plain = false;     // an identifier alone: no namespace, template or parameters
};

KernelName take_apart(std::string_view name);

// The function object in the arguments of an ATen kernel's template, without the wrappers around it: "CUDAFunctor_add<float>",
// "direct_copy_kernel_cuda<float>"; for functors of functors, also the inner one: "BinaryOpScalarFunctor<float> plus". Empty
// when none is found.
std::string functor_of(std::string_view arguments);

// Base name and the element types of its template, "vectorized_layer_norm_kernel<float>"; for wrappers like
// cutlass::Kernel2<X>, X's.
std::string short_name(const KernelName& name);

}  // namespace ridge
