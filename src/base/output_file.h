// OutputFile: a file that grows beside its place and appears there only when it is whole. Removed when it was not finished.
#pragma once

#include <string>
#include <string_view>

#include <ridge/output_file.h>

#include "base/waiting.h"

namespace ridge {

class OutputFile {
 public:
  // `goes_on` is asked where a pipe has to be waited for.
  static Result<OutputFile> create(const std::string& path, GoesOn goes_on = {});
  static OutputFile in_memory(std::string* bytes);  // appends to `bytes`, which must outlive it

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  Result<void> write(std::string_view bytes);
  // Puts it in its place. A large file that can be made again is not waited for, as the disk would take most of the time:
  // whoever looks sees the old file or the whole new one, but a machine that loses power within the half minute after may have
  // neither.
  enum class Wait { for_the_disk, for_nothing };
  Result<void> finish(Wait wait);

 private:
  OutputFile() = default;
  tl::unexpected<Error> failed(int error) const;

  std::string path_;               // as the user gave it
  std::string place_;              // where it will appear; empty: written in place (standard output, a device, a pipe)
  std::string unfinished_;         // its name until then
  std::string* memory_ = nullptr;  // instead of a file
  int file_ = -1;
  bool waits_ = false;  // somebody must take what is written: a pipe
  GoesOn goes_on_;
};

}  // namespace ridge
