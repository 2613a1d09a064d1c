// Whether the tests run under the address sanitizer, where the same work takes many times as long: there tests that repeat
// repeat less.
#pragma once

namespace ridge::test {

#if defined(RIDGE_ADDRESS_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace ridge::test
