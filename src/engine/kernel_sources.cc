// Tries ever shorter endings of the path inside the given folder, then the file's name anywhere in it.
#include "engine/kernel_sources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

namespace ridge {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 8 << 20;     // of one file; real ones hold some KiB
constexpr std::size_t kMostKeptBytes = 256 << 20;  // of all texts; beyond, a text is read again when it is asked for
constexpr std::size_t kMostListedFiles = 1'000'000;
constexpr std::size_t kMostNamesakes = 256;                      // files of one base name that are read for one kernel
constexpr std::size_t kMostScannedBytes = std::size_t{1} << 30;  // of files that are searched for kernels' names
constexpr std::size_t kMostNameBytes = 4096;

bool named_like_source(const fs::path& path) { return path.extension() == ".py"; }

constexpr std::string_view kConfigExtension = ".best_config";
constexpr std::uintmax_t kMostConfigBytes = 64 << 10;
constexpr std::size_t kMostConfigs = 100'000;

std::optional<std::string> read_regular(const fs::path& path, std::uintmax_t most_bytes) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || error) return std::nullopt;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > most_bytes) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) return std::nullopt;
  return text;
}

std::optional<std::string> read_source(const fs::path& path) {
  return named_like_source(path) ? read_regular(path, kMostBytes) : std::nullopt;
}

// The function behind "@triton.jit": "def triton_poi_fused_add_0(in_ptr0, .."; empty where there is none.
std::string jitted_function(std::string_view source) {
  constexpr std::string_view kMark = "@triton.jit\ndef ";
  const std::size_t at = source.find(kMark);
  if (at == std::string_view::npos) return {};
  source.remove_prefix(at + kMark.size());
  const std::size_t end = source.find('(');
  constexpr std::size_t kLongestName = 1000;
  return end == std::string_view::npos || end > kLongestName ? std::string() : std::string(source.substr(0, end));
}

bool inside(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  const auto [end_of_folder, rest] = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  return end_of_folder == folder.end() && rest != real.end();
}

}  // namespace

DiskKernelSources::DiskKernelSources(std::string folder, TracePaths trace_paths) : trace_paths_(trace_paths) {
  std::error_code error;
  if (folder.empty()) return;
  const fs::path real = fs::canonical(folder, error);
  if (!error) folder_ = real.string();
}

std::optional<std::string> DiskKernelSources::find(std::string_view kernel_file) const {
  if (kernel_file.empty() || kernel_file.find('\0') != std::string_view::npos) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (const auto kept = kept_.find(kernel_file); kept != kept_.end()) return kept->second;
  const std::string name(kernel_file);
  std::optional<std::string> text = look(name);
  const std::size_t bytes = name.size() + (text ? text->size() : 0);
  if (kept_bytes_ + bytes <= kMostKeptBytes) {
    kept_bytes_ += bytes;
    kept_.emplace(name, text);
  }
  return text;
}

std::vector<KeptConfig> DiskKernelSources::kept_configs() const {
  std::vector<KeptConfig> out;
  if (folder_.empty()) return out;
  std::map<std::string, std::vector<std::string>> kernels;  // by folder
  std::error_code error;
  fs::recursive_directory_iterator it(folder_, fs::directory_options::skip_permission_denied, error);
  std::size_t files = 0;
  for (const fs::recursive_directory_iterator end; !error && it != end && files < kMostListedFiles;
       it.increment(error), ++files) {
    const fs::path& path = it->path();
    if (!inside(folder_, path)) continue;
    const std::string folder = path.parent_path().string();
    if (const auto source = read_source(path)) {
      if (auto name = jitted_function(*source); !name.empty()) kernels[folder].push_back(std::move(name));
    } else if (path.extension() == kConfigExtension && out.size() < kMostConfigs) {
      if (auto text = read_regular(path, kMostConfigBytes))
        out.push_back({fs::path(path).lexically_relative(folder_).string(), std::move(*text), {}});
    }
  }
  std::ranges::sort(out, {}, &KeptConfig::file);
  for (KeptConfig& config : out) {
    const auto found = kernels.find((fs::path(folder_) / config.file).parent_path().string());
    if (found == kernels.end()) continue;
    config.kernels = found->second;
    std::ranges::sort(config.kernels);
  }
  return out;
}

std::uint64_t DiskKernelSources::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

std::optional<std::string> DiskKernelSources::look(const std::string& kernel_file) const {
  if (!folder_.empty())
    if (auto texts = look_in_folder(kernel_file, 1); !texts.empty()) return std::move(texts.front());
  const fs::path path(kernel_file);
  return trace_paths_ == TracePaths::read && path.is_absolute() ? read_source(path) : std::nullopt;
}

std::vector<std::string> DiskKernelSources::look_in_folder(const std::string& kernel_file, std::size_t most) const {
  const fs::path whole = fs::path(kernel_file).relative_path();
  const std::vector<fs::path> parts(whole.begin(), whole.end());
  constexpr std::size_t kMostParts = 64;
  if (parts.empty() || parts.size() > kMostParts || std::find(parts.begin(), parts.end(), "..") != parts.end()) return {};
  for (std::size_t first = 0; first < parts.size(); ++first) {
    fs::path path = folder_;
    for (std::size_t i = first; i < parts.size(); ++i) path /= parts[i];
    if (!inside(folder_, path)) continue;
    if (auto text = read_source(path)) return {std::move(*text)};
  }
  list_folder();
  std::vector<std::string> texts;
  const auto found = by_base_name_.find(parts.back().string());
  if (found == by_base_name_.end()) return texts;
  for (const std::string& path : found->second) {
    if (texts.size() >= most) break;
    if (!inside(folder_, path)) continue;
    if (auto text = read_source(path)) texts.push_back(std::move(*text));
  }
  return texts;
}

std::vector<std::string> DiskKernelSources::find_named(std::string_view kernel_file, std::string_view kernel) const {
  std::vector<std::string> texts;
  if (folder_.empty()) return texts;
  const std::lock_guard lock(mutex_);
  if (!kernel_file.empty() && kernel_file.find('\0') == std::string_view::npos)
    texts = look_in_folder(std::string(kernel_file), kMostNamesakes);
  list_modules();
  const auto found = modules_.find(kernel);
  if (found == modules_.end()) return texts;
  for (const std::string& path : found->second) {
    if (!inside(folder_, path)) continue;
    if (auto text = read_source(path)) texts.push_back(std::move(*text));
  }
  return texts;
}

// Every kernel of a generated module stands there as async_compile.triton('its name', '''source''').
void DiskKernelSources::list_modules() const {
  if (std::exchange(modules_listed_, true)) return;
  constexpr std::string_view kCall = "async_compile.triton('";
  list_folder();
  std::vector<std::string> paths;
  for (const auto& [name, namesakes] : by_base_name_) paths.insert(paths.end(), namesakes.begin(), namesakes.end());
  std::sort(paths.begin(), paths.end());
  std::size_t read = 0;
  for (const std::string& path : paths) {
    const auto text = read < kMostScannedBytes && inside(folder_, path) ? read_source(path) : std::nullopt;
    if (!text) continue;
    read += text->size();
    for (std::size_t at = text->find(kCall); at != std::string::npos; at = text->find(kCall, at + 1)) {
      const std::size_t begin = at + kCall.size(), end = text->find('\'', begin);
      if (end == std::string::npos || end - begin > kMostNameBytes) continue;
      std::vector<std::string>& holders = modules_[text->substr(begin, end - begin)];
      if (holders.empty() || holders.back() != path) holders.push_back(path);
    }
  }
}

void DiskKernelSources::list_folder() const {
  if (std::exchange(listed_, true)) return;
  std::error_code error;
  fs::recursive_directory_iterator it(folder_, fs::directory_options::skip_permission_denied, error);
  std::size_t files = 0;
  for (const fs::recursive_directory_iterator end; !error && it != end && files < kMostListedFiles;
       it.increment(error), ++files) {
    if (!named_like_source(it->path())) continue;
    by_base_name_[it->path().filename().string()].push_back(it->path().string());
  }
  for (auto& [name, paths] : by_base_name_) std::ranges::sort(paths);
}

}  // namespace ridge
