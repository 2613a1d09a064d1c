// Output that is whole or absent: written beside its place and renamed when done, so that nobody ever sees half of it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <ridge/result.h>
#include <ridge/writer.h>

namespace ridge {

// Refuses an output that is one of the inputs, lies in a folder of inputs, or where no file can be made. "-" is standard
// output. Asked before a trace is read.
Result<void> check_output(const std::string& path, std::span<const std::string> inputs);

Result<void> write_output_file(const std::string& path, std::string_view text);
// What `fill` gives to its writer, piece by piece. Where it fails there is no file.
Result<void> write_output_file(const std::string& path, const std::function<Result<void>(const Writer&)>& fill);

}  // namespace ridge
