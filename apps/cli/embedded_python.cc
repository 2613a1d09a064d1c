// Lays the files out under the user's cache, else under the folder for temporary files. A folder appears whole, by renaming,
// and is used again only if it is ours and holds exactly these bytes: what lies there is run inside the user's programs.
#include "embedded_python.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;
using Files = std::span<const EmbeddedFile>;

// Of all names and texts (FNV-1a): a folder for each version of the files.
std::uint64_t fingerprint(Files files) {
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  };
  for (const EmbeddedFile& file : files) {
    add(file.path);
    add(file.text);
  }
  return hash;
}

bool only_ours_to_write(const fs::path& path) {
  struct stat found = {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() &&
         (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool holds(const fs::path& path, std::string_view text) {
  std::ifstream file(path, std::ios::binary);
  const std::string found((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return file.good() && found == text;
}

bool is_whole(const fs::path& folder, Files files) {
  if (!only_ours_to_write(folder)) return false;
  for (const EmbeddedFile& file : files) {
    const fs::path path = folder / file.path;
    if (!only_ours_to_write(path.parent_path()) || !holds(path, file.text)) return false;
  }
  return true;
}

bool write_files(const fs::path& folder, Files files) {
  for (const EmbeddedFile& file : files) {
    const fs::path path = folder / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    fs::permissions(path.parent_path(), fs::perms::owner_all, error);
    std::ofstream out(path, std::ios::binary);
    out << file.text;
    if (!out.flush()) return false;
  }
  return true;
}

// Where a folder may lie, best first. PYTHONPATH separates by colons: a path that holds one cannot stand in it.
std::vector<fs::path> places() {
  std::vector<fs::path> all;
  const auto add = [&all](const char* folder, std::string_view below) {
    if (folder == nullptr || *folder != '/' || std::string_view(folder).find(':') != std::string_view::npos) return;
    all.push_back(fs::path(folder) / below);
  };
  add(std::getenv("XDG_CACHE_HOME"), "ridge");
  add(std::getenv("HOME"), ".cache/ridge");
  const std::string mine = fmt::format("ridge-{}", ::geteuid());
  add(std::getenv("TMPDIR"), mine);
  add("/tmp", mine);
  return all;
}

// Under `place`, or nullopt if that cannot be written to.
std::optional<fs::path> lay_out_under(const fs::path& place, Files files, std::string_view name) {
  std::error_code error;
  fs::create_directories(place, error);
  const fs::path wanted = place / fmt::format("{}-{:016x}", name, fingerprint(files));
  if (is_whole(wanted, files)) return wanted;
  std::string made = wanted.string() + ".XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) return std::nullopt;
  if (!write_files(made, files)) {
    fs::remove_all(made, error);
    return std::nullopt;
  }
  fs::rename(made, wanted, error);
  if (!error) return wanted;
  if (!is_whole(wanted, files)) return fs::path(made);  // something else is in its place
  fs::remove_all(made, error);                          // somebody was faster
  return wanted;
}

}  // namespace

Result<std::string> lay_out(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const fs::path& place : places()) {
    if (const auto folder = lay_out_under(place, files, name)) return folder->string();
  }
  return fail(ErrorCode::cannot_write,
              "no folder to put ridge's Python files into: neither the cache nor the temporary folder can be written to", {},
              "set TMPDIR to a folder that can be, without a colon in its name");
}

}  // namespace ridge::cli
