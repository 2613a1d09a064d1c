#include "output_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "standard_streams.h"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot_write(const std::string& path, std::string_view why, std::string hint = {}) {
  return fail(ErrorCode::cannot_write, fmt::format("cannot write '{}': {}", path, why), {}, std::move(hint));
}

// The same file, or a file that lies in an input folder.
bool is_input(const fs::path& output, const fs::path& input) {
  std::error_code error;
  if (!fs::exists(output, error)) return false;
  if (fs::equivalent(output, input, error)) return true;
  if (!fs::is_directory(input, error)) return false;
  const fs::path inside = fs::canonical(output, error);
  const fs::path folder = fs::canonical(input, error);
  return std::ranges::mismatch(folder, inside).in1 == folder.end();
}

// A link is followed, so that the file it points to is replaced and not the link.
fs::path place_of(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? fs::path(path) : real;
}

fs::path folder_of(const fs::path& place) { return place.has_parent_path() ? place.parent_path() : fs::path("."); }

// A device, a pipe: cannot be renamed over.
bool is_special(const fs::path& place) {
  std::error_code error;
  const auto status = fs::status(place, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

Result<void> write_special(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return cannot_write(path, std::strerror(errno));
  const int error = write_all(file, text);
  ::close(file);
  if (error != 0 && error != EPIPE) return cannot_write(path, std::strerror(error));
  return {};
}

// The mode of the file that is replaced, or what the umask leaves to a new one; mkstemp alone would make it private.
mode_t mode_for(const fs::path& place) {
  struct stat old = {};
  if (::stat(place.c_str(), &old) == 0) return old.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// A file beside its later place. It is removed unless it was renamed.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const fs::path& place)
      : name_(place.string() + ".unfinished-XXXXXX"), file_(::mkstemp(name_.data())) {}
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile() {
    if (file_ < 0) return;
    ::close(file_);
    if (!renamed_) ::unlink(name_.c_str());
  }

  // 0 or errno.
  int fill_and_rename(std::string_view text, const fs::path& place) {
    if (file_ < 0) return errno;
    if (const int error = write_all(file_, text)) return error;
    if (::fchmod(file_, mode_for(place)) != 0 || ::fsync(file_) != 0) return errno;
    renamed_ = ::rename(name_.c_str(), place.c_str()) == 0;
    return renamed_ ? 0 : errno;
  }

 private:
  std::string name_;
  int file_;
  bool renamed_ = false;
};

}  // namespace

Result<void> check_output(const std::string& path, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    if (is_input(path, input)) {
      return fail(ErrorCode::usage, fmt::format("the output '{}' is an input", path), {},
                  "give -o another name: an input is never touched");
    }
  }
  std::error_code error;
  if (fs::is_directory(path, error)) return cannot_write(path, "it is a folder", "give -o the name of a file");
  const fs::path place = place_of(path);
  if (is_special(place)) return {};
  if (::access(folder_of(place).c_str(), W_OK | X_OK) != 0) return cannot_write(path, std::strerror(errno));
  return {};
}

Result<void> write_output_file(const std::string& path, std::string_view text) {
  const fs::path place = place_of(path);
  if (is_special(place)) return write_special(path, text);
  UnfinishedFile file(place);
  if (const int error = file.fill_and_rename(text, place)) return cannot_write(path, std::strerror(error));
  return {};
}

}  // namespace ridge::cli
