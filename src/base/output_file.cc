// A temporary file beside the target and a rename, or an exchange where the system has one; pipes are written directly.
#include "base/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/try.h"
#include "base/waiting.h"

namespace ridge {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandardOutput = "-";
// What a pipe takes without waiting when it can be written to.
constexpr std::size_t kTakenAtOnce = PIPE_BUF;

tl::unexpected<Error> cannot_write(const std::string& path, std::string_view why, std::string hint = {}) {
  return fail(ErrorCode::cannot_write, "cannot write '" + path + "': " + std::string(why), {}, std::move(hint));
}

// A link is followed, so that the file it points to is replaced and not the link.
fs::path place_of(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? fs::path(path) : real;
}

// A device, a pipe: cannot be renamed over.
bool is_special(const fs::path& place) {
  std::error_code error;
  const auto status = fs::status(place, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
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

// The mode of the file that is replaced, or what the umask leaves to a new one; mkstemp alone would make it private.
mode_t mode_for(const std::string& place) {
  struct stat old = {};
  if (::stat(place.c_str(), &old) == 0) return old.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Puts the file in the place of an old one, which gets its name: at one moment, as a rename does. But for a rename over a file
// ext4 and others first write the new one to the disk, which takes as long as making a large one. False: nothing was done.
bool swap_with_old([[maybe_unused]] const std::string& file, [[maybe_unused]] const std::string& place) {
#ifdef RENAME_EXCHANGE
  struct stat old = {};
  return ::lstat(place.c_str(), &old) == 0 && S_ISREG(old.st_mode) &&
         ::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

}  // namespace

Result<void> check_output(const std::string& path, std::span<const std::string> inputs) {
  if (path == kStandardOutput) return {};
  if (path.empty()) return fail(ErrorCode::usage, "the output path is empty", {}, "give the path of a file to write");
  for (const std::string& input : inputs) {
    if (is_input(path, input)) {
      return fail(ErrorCode::usage, "the output '" + path + "' is also an input", {},
                  "choose another name: inputs are never overwritten");
    }
  }
  std::error_code error;
  if (fs::is_directory(path, error)) return cannot_write(path, "it is a folder", "give the name of a file");
  const fs::path place = place_of(path);
  if (is_special(place)) return {};
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return cannot_write(path, std::strerror(errno));
  return {};
}

Result<OutputFile> OutputFile::create(const std::string& path, GoesOn goes_on) {
  OutputFile out;
  out.path_ = path;
  const fs::path place = place_of(path);
  if (path == kStandardOutput) {
    out.file_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  } else if (is_special(place)) {
    out.file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    out.place_ = place.string();
    out.unfinished_ = out.place_ + ".unfinished-XXXXXX";
    out.file_ = ::mkostemp(out.unfinished_.data(), O_CLOEXEC);
    if (out.file_ < 0) out.unfinished_.clear();
  }
  if (out.file_ < 0) return out.failed(errno);
  out.waits_ = out.place_.empty() && may_wait(out.file_);
  out.goes_on_ = std::move(goes_on);
  return out;
}

OutputFile OutputFile::in_memory(std::string* bytes) {
  OutputFile out;
  out.memory_ = bytes;
  return out;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      place_(std::move(other.place_)),
      unfinished_(std::exchange(other.unfinished_, {})),
      memory_(other.memory_),
      file_(std::exchange(other.file_, -1)),
      waits_(other.waits_),
      goes_on_(std::move(other.goes_on_)) {}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (!unfinished_.empty()) ::unlink(unfinished_.c_str());
}

tl::unexpected<Error> OutputFile::failed(int error) const {
  return cannot_write(path_, std::strerror(error), error == ENOSPC ? "free some space, or write to another disk" : "");
}

Result<void> OutputFile::write(std::string_view bytes) {
  if (memory_ != nullptr) {
    memory_->append(bytes);
    return {};
  }
  while (!bytes.empty()) {
    if (waits_ && !wait_for(file_, POLLOUT, goes_on_)) return fail(ErrorCode::interrupted, "interrupted", path_);
    const ssize_t written = ::write(file_, bytes.data(), waits_ ? std::min(bytes.size(), kTakenAtOnce) : bytes.size());
    if (written < 0 && errno == EPIPE && place_.empty()) return {};  // whoever read it has seen what it wanted
    if (written < 0 && errno != EINTR && errno != EAGAIN) return failed(errno);
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> OutputFile::finish(Wait wait) {
  if (memory_ != nullptr) return {};
  if (wait == Wait::for_the_disk && !place_.empty() && ::fsync(file_) != 0) return failed(errno);
  if (!place_.empty() && ::fchmod(file_, mode_for(place_)) != 0) return failed(errno);
  if (::close(std::exchange(file_, -1)) != 0) return failed(errno);
  if (place_.empty()) return {};
  if (wait == Wait::for_nothing && swap_with_old(unfinished_, place_)) {
    ::unlink(unfinished_.c_str());  // the old one
  } else if (::rename(unfinished_.c_str(), place_.c_str()) != 0) {
    return failed(errno);
  }
  unfinished_.clear();
  return {};
}

Result<void> write_output_file(const std::string& path, std::string_view text) {
  return write_output_file(path, [&](const Writer& write) { return write(text); });
}

Result<void> write_output_file(const std::string& path, const std::function<Result<void>(const Writer&)>& fill) {
  TRY(OutputFile out, OutputFile::create(path));
  if (auto filled = fill([&](std::string_view piece) { return out.write(piece); }); !filled) return filled;
  return out.finish(OutputFile::Wait::for_the_disk);
}

}  // namespace ridge
