// TRY: unwraps a Result or returns its error from the enclosing function. The one macro of the project.
#pragma once

#include <ridge/result.h>

#define RIDGE_CONCAT_(a, b) a##b
#define RIDGE_CONCAT(a, b) RIDGE_CONCAT_(a, b)

// TRY(auto x, f()): x is f()'s value, or the enclosing function returns f()'s error.
#define TRY(declaration, expression)                                                         \
  auto RIDGE_CONCAT(result_, __LINE__) = (expression);                                       \
  if (!RIDGE_CONCAT(result_, __LINE__))                                                      \
    return tl::unexpected<ridge::Error>(std::move(RIDGE_CONCAT(result_, __LINE__)).error()); \
  declaration = std::move(*RIDGE_CONCAT(result_, __LINE__))
