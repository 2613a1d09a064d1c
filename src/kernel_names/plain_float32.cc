// Tokens for and against.
#include "kernel_names/plain_float32.h"

#include <algorithm>
#include <array>

namespace ridge {
namespace {

// Tensor cores; matrices times vectors, which have none; kernels that take narrower numbers, though their name says sgemm too.
constexpr std::array<std::string_view, 7> kOthers = {"tf32", "tensorop", "s1688", "gemv", "bfloat16", "__half", "Half"};
constexpr std::array<std::string_view, 3> kPlain = {"sgemm", "scudnn", "f32f32_f32f32_f32"};
// Algorithms for convolutions that cuDNN has for the ordinary units alone: by Fourier transforms, by Winograd's, and its
// oldest.
constexpr std::array<std::string_view, 6> kPlainConvolutions = {
    "fft2d_r2c_",          "fft2d_c2r_",         "pointwise_mult_and_sum_complex<float2",
    "winograd_nonfused::", "dgrad_engine<float", "wgrad_alg0_engine<float"};

}  // namespace

bool is_plain_float32(std::string_view kernel) {
  const auto holds = [&](std::string_view part) { return kernel.find(part) != kernel.npos; };
  if (std::any_of(kOthers.begin(), kOthers.end(), holds)) return false;
  if (std::any_of(kPlainConvolutions.begin(), kPlainConvolutions.end(), holds)) return holds("<float");
  return std::any_of(kPlain.begin(), kPlain.end(), holds) || (holds("_ffma_") && !holds("f16"));
}

}  // namespace ridge
