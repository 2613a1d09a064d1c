// The words that the source of a Triton kernel may use. Triton calls, while it compiles a kernel, whatever Python function an
// expression of it names: so only attributes and modules that are known to be harmless are let through.
#pragma once

#include <string_view>

namespace ridge {

// Behind a dot: functions and types of triton.language, functions of Inductor's helpers, methods of tensors.
bool is_triton_attribute(std::string_view name);

// "triton.language", "libdevice" of a module: what an import may bind. `from`: empty for `import module`.
bool is_triton_import(std::string_view from, std::string_view name);

// A module of device functions, every one of which may be called: libdevice and Triton's math.
bool is_device_library(std::string_view from, std::string_view name);

// In a decorator: enumerations, constructors of plain data.
bool is_decorator_word(std::string_view name);

// triton_heuristics.NAME.
bool is_heuristic(std::string_view name);

bool is_body_keyword(std::string_view name);
bool is_body_builtin(std::string_view name);

// Python's own functions that reach everything else. Not even a variable may be called so: where it is not assigned yet, Triton
// takes the function.
bool is_reaching_builtin(std::string_view name);

}  // namespace ridge
