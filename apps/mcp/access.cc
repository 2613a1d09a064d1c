// Names to descriptors. Everything that reaches a file from a client goes through here.
#include "access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <ridge/folder.h>
#include <ridge/json.h>
#include <ridge/render.h>

namespace ridge::mcp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 4096, kLongestShown = 300;
constexpr std::size_t kMostLookedAt = 50'000;  // entries below the root
constexpr int kDeepestFolder = 8;
constexpr std::string_view kUnknownCharacter = "\xEF\xBF\xBD";  // U+FFFD: what printable() gives for bytes that are no UTF-8
constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // a pipe of that name does not hold us up
#ifdef O_PATH
constexpr int kFolderFlags = O_PATH | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY;  // also where a folder may be passed, not listed
#else
constexpr int kFolderFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY;
#endif

std::optional<std::string> canonical(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return std::nullopt;
  std::string text(resolved);
  std::free(resolved);
  return text;
}

tl::unexpected<Error> not_readable(std::string_view name) {
  return fail(ErrorCode::cannot_open,
              fmt::format("\"{}\" is not a trace that may be read here", short_text(printable(name), kLongestShown)), "",
              "the tool open without arguments lists those that may; the user names others when the server is started");
}

// `relative` is canonical: it has no links, unless somebody has put one there since.
Descriptor open_below(int folder, std::string_view relative) {
  Descriptor at;
  for (;;) {
    const std::size_t slash = relative.find('/');
    const std::string part(relative.substr(0, slash));
    if (part.empty() || part == "." || part == "..") return {};
    const bool last = slash == std::string_view::npos;
    const int from = at.is_open() ? at.get() : folder;
    at = Descriptor(::openat(from, part.c_str(), last ? kFileFlags : kFolderFlags));
    if (last || !at.is_open()) return at;
    relative.remove_prefix(slash + 1);
  }
}

Result<OpenTrace> opened(std::string name, std::string path, Descriptor file) {
  struct stat status{};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return not_readable(name);
  std::string state = fmt::format("{}:{}:{}:{}.{}", status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                                  status.st_mtim.tv_nsec);
  return OpenTrace{std::move(name), std::move(path), std::move(state), std::move(file)};
}

// `path` is absolute and canonical, as the user gave it.
Result<OpenTrace> open_path(const std::string& name, const std::string& path) {
  const Descriptor top(::open("/", kFolderFlags));
  return opened(name, path, open_below(top.get(), std::string_view(path).substr(1)));
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Access> Access::make(const std::optional<std::string>& root, const std::vector<std::string>& traces,
                            const std::vector<std::string>& captures) {
  Access access;
  if (std::ranges::find(traces, "-") != traces.end())
    return fail(ErrorCode::usage, "mcp reads no trace from standard input: the protocol is there", "", "give its path");
  const auto expanded = with_folders_expanded(traces);
  if (!expanded) return tl::unexpected(expanded.error());
  if (captures.size() > expanded->size())
    return fail(ErrorCode::usage, "there are more captures than traces", "", "--capture is given once per trace, - for none");
  const auto resolved = [](const std::string& given) -> Result<std::string> {
    if (auto path = canonical(given)) return *path;
    return fail(ErrorCode::cannot_open, "cannot open: no such file", given, "check the path");
  };
  const std::vector<std::string> names = short_names(*expanded);
  for (std::size_t i = 0; i < expanded->size(); ++i) {
    const std::string& given = (*expanded)[i];
    const auto path = resolved(given);
    if (!path) return tl::unexpected(path.error());
    access.named_.push_back({names[i], given, *path, ""});
    if (i >= captures.size() || captures[i] == "-") continue;
    const auto capture = resolved(captures[i]);
    if (!capture) return tl::unexpected(capture.error());
    access.named_.back().capture = *capture;
  }
  if (!root) return access;
  const auto folder = canonical(*root);
  if (folder) access.root_folder_ = Descriptor(::open(folder->c_str(), kFolderFlags));
  if (!access.root_folder_.is_open())
    return fail(ErrorCode::cannot_open, "--root is not a folder that can be read", *root, "check the path");
  access.root_ = *folder;
  return access;
}

Result<std::optional<OpenTrace>> Access::capture_of(const OpenTrace& trace) const {
  const auto found = std::ranges::find(named_, trace.path, &Named::path);
  if (found == named_.end() || found->capture.empty()) return std::optional<OpenTrace>();
  return open_path(fs::path(found->capture).filename().string(), found->capture).map([](OpenTrace capture) {
    return std::optional(std::move(capture));
  });
}

std::string Access::shown_as(std::string_view name) const {
  const bool may_be = name.find('\\') != std::string_view::npos || name.find(kUnknownCharacter) != std::string_view::npos;
  if (!may_be) return {};
  for (const ListedTrace& each : list().traces) {
    if (each.name != name && printable(each.name) == name) return each.name;
  }
  return {};
}

Result<OpenTrace> Access::open(std::string_view name) const {
  auto trace = open_exactly(name);
  if (trace) return trace;
  const std::string meant = shown_as(name);
  return meant.empty() ? std::move(trace) : open_exactly(meant);
}

Result<OpenTrace> Access::open_exactly(std::string_view name) const {
  if (name.empty() || name.size() > kLongestName || name.find('\0') != std::string_view::npos) return not_readable(name);
  const auto is_named = [&](const Named& each) { return each.name == name || each.given == name || each.path == name; };
  if (const auto found = std::ranges::find_if(named_, is_named); found != named_.end())
    return open_path(found->name, found->path);
  if (root_.empty()) return not_readable(name);

  const std::string asked = name.starts_with('/') ? std::string(name) : root_ + "/" + std::string(name);
  const auto path = canonical(asked);
  const std::string below = root_ == "/" ? "/" : root_ + "/";
  if (!path || !path->starts_with(below) || !is_named_like_trace(*path)) return not_readable(name);
  const std::string relative = path->substr(below.size());
  return opened(relative, *path, open_below(root_folder_.get(), relative));
}

TraceList Access::list() const {
  TraceList list;
  std::error_code error;
  for (const Named& each : named_) {
    const auto bytes = fs::file_size(each.path, error);
    list.traces.push_back({each.name, error ? 0 : bytes});
  }
  if (root_.empty()) return list;
  std::vector<ListedTrace> below;
  std::size_t looked_at = 0;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(root_, options, error), end; !error && it != end; it.increment(error)) {
    if (++looked_at > kMostLookedAt) {
      list.cut = true;
      break;
    }
    std::error_code ignored;
    const std::string file = it->path().filename().string();
    if (it->is_symlink(ignored)) continue;
    if (it->is_directory(ignored)) {
      if (file.starts_with('.') || it.depth() >= kDeepestFolder) it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file(ignored) || !is_named_like_trace(file)) continue;
    const auto bytes = it->file_size(ignored);
    below.push_back({it->path().string().substr(root_.size() + (root_ == "/" ? 0 : 1)), ignored ? 0 : bytes});
  }
  std::ranges::sort(below, {}, &ListedTrace::name);
  list.traces.insert(list.traces.end(), below.begin(), below.end());
  return list;
}

std::string Access::only_trace() const { return named_.size() == 1 && root_.empty() ? named_.front().name : std::string(); }

}  // namespace ridge::mcp
