// ISA-L and zstd calls, and the bytes that join packed blocks into one gzip member.
#include "rewrite/packing.h"

#include <array>
#include <memory>
#include <vector>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

namespace ridge {
namespace {

struct Ending {
  std::string_view text;
  Packing packing;
};
constexpr Ending kEndings[] = {{".gz", Packing::gzip}, {".zst", Packing::zstd}};

// ISA-L's middle level: about what gzip -1 reaches in size, at several times its speed.
constexpr std::uint32_t kGzipLevel = 2;
constexpr std::uint32_t kGzipWorkspace = ISAL_DEF_LVL2_DEFAULT;
constexpr int kZstdLevel = 3;

// Deflate blocks without a last one, ended at a byte boundary and referring to nothing before them.
Result<void> deflate(std::string_view block, std::string* out) {
  const auto stream = std::make_unique<isal_zstream>();
  std::vector<std::uint8_t> workspace(kGzipWorkspace);
  isal_deflate_init(stream.get());
  stream->level = kGzipLevel;
  stream->level_buf = workspace.data();
  stream->level_buf_size = kGzipWorkspace;
  stream->flush = FULL_FLUSH;
  stream->end_of_stream = 0;
  stream->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(block.data()));
  stream->avail_in = static_cast<std::uint32_t>(block.size());
  const std::size_t before = out->size();
  out->resize(before + block.size() / 4 + 4096);
  std::size_t used = before;
  for (;;) {
    stream->next_out = reinterpret_cast<std::uint8_t*>(out->data()) + used;
    stream->avail_out = static_cast<std::uint32_t>(out->size() - used);
    const std::uint32_t room = stream->avail_out;
    if (isal_deflate(stream.get()) != COMP_OK) return fail(ErrorCode::cannot_write, "cannot compress the output");
    used += room - stream->avail_out;
    if (stream->avail_out != 0) break;  // with room left over, all is flushed
    out->resize(out->size() * 2);
  }
  out->resize(used);
  return {};
}

Result<void> compress_frame(std::string_view block, std::string* out) {
  const std::size_t before = out->size();
  out->resize(before + ZSTD_compressBound(block.size()));
  const std::size_t size = ZSTD_compress(out->data() + before, out->size() - before, block.data(), block.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) return fail(ErrorCode::cannot_write, "cannot compress the output");
  out->resize(before + size);
  return {};
}

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  return bytes;
}

}  // namespace

Packing packing_of(std::string_view path) {
  for (const Ending& ending : kEndings) {
    if (path.ends_with(ending.text)) return ending.packing;
  }
  return Packing::none;
}

Result<void> pack(Packing packing, std::string_view block, std::string* out) {
  if (block.empty()) return {};
  if (packing == Packing::gzip) return deflate(block, out);
  if (packing == Packing::zstd) return compress_frame(block, out);
  out->append(block);
  return {};
}

// Magic, deflate, no flags, no time (so that equal input gives equal output), unknown system.
std::string PackingFrame::head() const {
  using namespace std::string_literals;
  return packing_ == Packing::gzip ? "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"s : ""s;
}

void PackingFrame::add(std::string_view block) {
  bytes_ += block.size();
  if (packing_ != Packing::gzip) return;
  auto* data = reinterpret_cast<std::uint8_t*>(const_cast<char*>(block.data()));
  crc_ = crc32_gzip_refl(crc_, data, block.size());
}

// An empty last block, then the check of everything.
std::string PackingFrame::tail() const {
  if (packing_ != Packing::gzip) return {};
  return std::string("\x03\x00", 2) + little_endian(crc_) + little_endian(static_cast<std::uint32_t>(bytes_));
}

}  // namespace ridge
