// Errors as values: what every fallible function of ridge returns. No exception crosses a module.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace ridge {

enum class ErrorCode {
  cannot_open,      // the path cannot be opened or read
  not_a_trace,      // readable, but holds no trace events
  truncated,        // ends before its first event
  too_large,        // over a limit that the user can raise
  too_many_traces,  // a folder was given where one trace is wanted
  cannot_write,     // the output cannot be written
  usage,            // the call itself is wrong: unknown command, column, format
  interrupted,      // the caller asked to stop
};

// `message` says what happened, `where` in which input (file, byte offset), `hint` what to do next; the last two may be empty.
struct Error {
  ErrorCode code;
  std::string message;
  std::string where;
  std::string hint;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {}, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where), std::move(hint)});
}

}  // namespace ridge
