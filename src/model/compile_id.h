// CompileId: Dynamo's name of one compilation, "f/c": the c-th version of frame f; "!a/f/c" or "!a" under compiled autograd.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace ridge {

struct CompileId {
  std::int32_t autograd = -1;  // number of the compiled autograd graph; -1: an ordinary frame
  std::int32_t frame = -1;     // -1: not known
  std::int32_t compile = -1;   // version of the frame, from 0; -1: not known

  bool known() const { return frame >= 0 || autograd >= 0; }
  auto operator<=>(const CompileId&) const = default;
};

// Anything else than an id gives one that is not known.
CompileId parse_compile_id(std::string_view text);
std::string text_of(const CompileId& id);  // "0/1"; empty when not known

}  // namespace ridge
