// Opening: files, pipes and memory as plain byte sources, each with its container opened.
#include "ingest/source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/try.h"
#include "base/waiting.h"
#include "ingest/container.h"

namespace ridge {
namespace {

constexpr std::size_t kPrefixBytes = 512;

// A file descriptor, its first bytes read ahead.
class FileSource final : public Source {
 public:
  FileSource(int fd, bool owned, std::string path, const ProgressFunction& progress)
      : fd_(fd), owned_(owned), path_(std::move(path)), waits_(may_wait(fd)) {
    if (progress) goes_on_ = [this, progress] { return progress(position_, 0); };
  }
  ~FileSource() override {
    if (owned_) close(fd_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<std::string> read_prefix() {
    std::string bytes(kPrefixBytes, '\0');
    TRY(const std::size_t count, read(bytes.data(), bytes.size()));
    bytes.resize(count);
    ahead_ = bytes;
    position_ = 0;
    return bytes;
  }

  Result<std::size_t> read(char* out, std::size_t size) override {
    std::size_t got = std::min(size, ahead_.size());
    std::memcpy(out, ahead_.data(), got);
    ahead_.erase(0, got);
    while (got < size) {
      if (waits_ && !wait_for(fd_, POLLIN, goes_on_)) return fail(ErrorCode::interrupted, "interrupted", path_);
      const ssize_t n = ::read(fd_, out + got, std::min(size - got, std::size_t{1} << 30));
      if (n == 0) break;
      if (n < 0) {
        if (errno == EAGAIN && waits_) continue;
        // A handler that does not restart calls was installed for a signal that asks to stop.
        if (errno == EINTR) return fail(ErrorCode::interrupted, "interrupted", path_);
        return fail(ErrorCode::cannot_open, std::string("cannot read: ") + std::strerror(errno), path_,
                    errno == EISDIR ? "give the path of a trace file" : "check the file and the disk it is on");
      }
      got += static_cast<std::size_t>(n);
    }
    position_ += got;
    return got;
  }
  std::uint64_t file_position() const override { return position_; }

 private:
  int fd_;
  bool owned_;
  std::string path_;
  bool waits_;  // for somebody to write: a pipe
  GoesOn goes_on_;
  std::string ahead_;
  std::uint64_t position_ = 0;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  Result<std::size_t> read(char* out, std::size_t size) override {
    const std::size_t got = std::min(size, bytes_.size() - position_);
    if (got != 0) std::memcpy(out, bytes_.data() + position_, got);
    position_ += got;
    return got;
  }
  std::uint64_t file_position() const override { return position_; }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

OpenedSource open_container(std::unique_ptr<Source> plain, std::string prefix, std::uint64_t file_bytes) {
  const Container& container = container_of(prefix);
  return {container.open(std::move(plain)), container.name, file_bytes, std::move(prefix)};
}

}  // namespace

Result<OpenedSource> open_source(const std::string& path, ProgressFunction progress) {
  const bool standard_input = path == "-";
  const int fd = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail(ErrorCode::cannot_open, std::string("cannot open the trace: ") + std::strerror(errno), path,
                errno == ENOENT   ? "check the path"
                : errno == EACCES ? "check the file's permissions"
                                  : "");
  }
  auto file = std::make_unique<FileSource>(fd, !standard_input, standard_input ? "standard input" : path, progress);
  struct stat status{};
  const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  if (regular) posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  TRY(std::string prefix, file->read_prefix());
  return open_container(std::move(file), std::move(prefix), regular ? static_cast<std::uint64_t>(status.st_size) : 0);
}

OpenedSource open_bytes(std::string_view bytes) {
  return open_container(std::make_unique<MemorySource>(bytes), std::string(bytes.substr(0, kPrefixBytes)), bytes.size());
}

}  // namespace ridge
