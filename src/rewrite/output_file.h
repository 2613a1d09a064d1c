// OutputFile: a file that grows beside its place and appears there only when it is whole. Removed when it was not finished.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <ridge/result.h>

namespace ridge {

// Refuses an output that is one of the inputs or lies where no file can be made. "-" is standard output.
Result<void> check_output_path(const std::string& path, std::span<const std::string> inputs);

class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);
  static OutputFile in_memory(std::string* bytes);  // appends to `bytes`, which must outlive it

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  Result<void> write(std::string_view bytes);
  Result<void> finish();  // puts it in its place

 private:
  OutputFile() = default;
  tl::unexpected<Error> failed(int error) const;

  std::string path_;               // as the user gave it
  std::string place_;              // where it will appear; empty: written in place (standard output, a device, a pipe)
  std::string unfinished_;         // its name until then
  std::string* memory_ = nullptr;  // instead of a file
  int file_ = -1;
};

}  // namespace ridge
