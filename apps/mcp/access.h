// Access: which files may be read, and nothing else. Traces that the user named when the server was started, and traces below
// a root folder. Links of the traces that were named are resolved once, at the start. A name that a client gives is resolved,
// links too, and must then lie below the root. Files are opened folder by folder without following links, so that nothing can
// be put in between the check and the opening.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

namespace ridge::mcp {

// A file descriptor; closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// A trace that was opened for reading.
struct OpenTrace {
  std::string name;   // what clients call it
  std::string path;   // absolute, for the user's own commands
  std::string state;  // of the file: another text when it was written anew
  Descriptor file;

  std::string descriptor_path() const { return "/dev/fd/" + std::to_string(file.get()); }
};

struct ListedTrace {
  std::string name;
  std::uint64_t bytes = 0;
};

struct TraceList {
  std::vector<ListedTrace> traces;
  bool cut = false;  // there are more files below the root than are looked at
};

class Access {
 public:
  // Folders among the traces stand for the traces in them. `captures`: of each trace in turn; "-" or fewer: none. An error
  // where one of the files or the root is not there.
  static Result<Access> make(const std::optional<std::string>& root, const std::vector<std::string>& traces,
                             const std::vector<std::string>& captures = {});

  // A trace by the name that list() gives it, as it stands or as answers show it (printable()), or by its path. What may not be
  // read is refused in the same words whether it exists or not.
  Result<OpenTrace> open(std::string_view name) const;

  // The capture that the user gave with a trace.
  Result<std::optional<OpenTrace>> capture_of(const OpenTrace& trace) const;

  // The named ones first, then those below the root by path; links and hidden folders are left out.
  TraceList list() const;

  // The one trace there is to ask about, where the user named one and no root; empty otherwise.
  std::string only_trace() const;

 private:
  // Of a name with characters that answers show by their numbers, the name itself; empty: none is shown so.
  std::string shown_as(std::string_view name) const;
  Result<OpenTrace> open_exactly(std::string_view name) const;

  struct Named {
    std::string name, given, path, capture;
  };
  std::vector<Named> named_;
  std::string root_;  // canonical; empty: none
  Descriptor root_folder_;
};

}  // namespace ridge::mcp
