// Opening: files, pipes and memory as plain byte sources, and the table of containers that are recognised by their first bytes.
#include "ingest/source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/try.h"
#include "base/waiting.h"

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

bool is_gzip(std::string_view b) { return b.starts_with("\x1f\x8b"); }

bool is_zstd(std::string_view b) {
  if (b.size() < 4) return false;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(b[i]); };
  const bool frame = byte(0) == 0x28 && byte(1) == 0xB5 && byte(2) == 0x2F && byte(3) == 0xFD;
  const bool skippable = (byte(0) & 0xF0) == 0x50 && byte(1) == 0x2A && byte(2) == 0x4D && byte(3) == 0x18;
  return frame || skippable;
}

struct Container {
  std::string_view name;
  bool (*recognise)(std::string_view prefix);
  std::unique_ptr<Source> (*wrap)(std::unique_ptr<Source> inner);
};

constexpr Container kContainers[] = {
    {"gzip", is_gzip, make_gzip_source},
    {"zstd", is_zstd, make_zstd_source},
};

OpenedSource wrap(std::unique_ptr<Source> plain, std::string prefix, std::uint64_t file_bytes) {
  for (const Container& container : kContainers) {
    if (!container.recognise(prefix)) continue;
    return {container.wrap(std::move(plain)), container.name, file_bytes, std::move(prefix)};
  }
  return {std::move(plain), "json", file_bytes, std::move(prefix)};
}

struct Signature {
  std::string_view bytes;
  std::size_t at;
  std::string_view meaning;
};

using namespace std::string_view_literals;

constexpr Signature kSignatures[] = {
    {"PK\x03\x04"sv, 0, "a ZIP archive (unpack it first; a .pt or .pt2 file is one too)"},
    {"BZh"sv, 0, "bzip2-compressed (decompress it first: bunzip2)"},
    {"\xFD"
     "7zXZ"sv,
     0, "xz-compressed (decompress it first: unxz)"},
    {"\x04\x22\x4D\x18"sv, 0, "lz4-compressed (decompress it first: unlz4)"},
    {"7z\xBC\xAF"sv, 0, "a 7z archive (unpack it first)"},
    {"ustar"sv, 257, "a tar archive (unpack it first)"},
    {"SQLite format 3"sv, 0, "an SQLite database (an Nsight Systems export?)"},
    {"\x7F"
     "ELF"sv,
     0, "an ELF binary"},
    {"\x80\x04"sv, 0, "a Python pickle (a memory snapshot?)"},
    {"\x80\x02"sv, 0, "a Python pickle"},
    {"\xFF\xFE"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"\xFE\xFF"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"{\0"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"[\0"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"\0{"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"\0["sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"%PDF"sv, 0, "a PDF document"},
    {"\x89PNG"sv, 0, "a PNG image"},
    {"<!DOCTYPE"sv, 0, "an HTML page (a failed download?)"},
    {"<!doctype"sv, 0, "an HTML page (a failed download?)"},
    {"<html"sv, 0, "an HTML page (a failed download?)"},
    {"<?xml"sv, 0, "an XML document"},
    {"version https://git-lfs"sv, 0, "a Git LFS pointer, not the file itself (git lfs pull)"},
};

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
  return wrap(std::move(file), std::move(prefix), regular ? static_cast<std::uint64_t>(status.st_size) : 0);
}

OpenedSource open_bytes(std::string_view bytes) {
  return wrap(std::make_unique<MemorySource>(bytes), std::string(bytes.substr(0, kPrefixBytes)), bytes.size());
}

std::string_view describe_content(std::string_view prefix) {
  for (const Signature& signature : kSignatures) {
    if (prefix.size() > signature.at && prefix.substr(signature.at).starts_with(signature.bytes)) return signature.meaning;
  }
  const bool binary = std::any_of(prefix.begin(), prefix.end(), [](char c) { return c == '\0'; });
  return binary ? "a binary file" : "";
}

}  // namespace ridge
