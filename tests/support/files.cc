// Where traces are looked for, and compression with the libraries the reader uses.
#include "support/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include "support/sample.h"

namespace ridge::test {
namespace {

namespace fs = std::filesystem;

void add_traces(const fs::path& folder, std::vector<std::string>* found) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().string().ends_with(".json.gz")) found->push_back(entry.path().string());
  }
  std::sort(found->begin(), found->end());
}

}  // namespace

std::string source_dir() { return RIDGE_SOURCE_DIR; }

std::vector<std::string> own_traces() {
  std::vector<std::string> found;
  add_traces(fs::path(source_dir()) / "tests/fixtures", &found);
  add_traces(fs::path(source_dir()) / "examples", &found);
  return found;
}

std::vector<std::string> shared_traces() {
  std::vector<std::string> found;
  for (const char* folder : {"h200", "faults", "public"})
    add_traces(fs::path(source_dir()) / "../shared/traces" / folder, &found);
  return found;
}

std::vector<std::string> all_traces() {
  std::vector<std::string> found = own_traces();
  std::ranges::move(kSanitized ? sample(shared_traces(), 8) : shared_traces(), std::back_inserter(found));
  return found;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string json_of(const std::string& path) {
  std::string bytes = contents(path);
  return bytes.starts_with("\x1f\x8b") ? inflate_prefix_gzip(bytes) : bytes;
}

std::string fixture(const std::string& name) { return json_of(source_dir() + "/tests/fixtures/" + name + ".json.gz"); }

std::string gzip(std::string_view bytes) {
  std::string input(bytes);
  std::string out(bytes.size() + bytes.size() / 8 + 4096, '\0');
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  std::vector<std::uint8_t> scratch(ISAL_DEF_LVL1_DEFAULT);
  stream.level = 1;
  stream.level_buf = scratch.data();
  stream.level_buf_size = static_cast<std::uint32_t>(scratch.size());
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(input.data());
  stream.avail_in = static_cast<std::uint32_t>(input.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  if (isal_deflate_stateless(&stream) != COMP_OK) throw std::runtime_error("cannot compress");
  out.resize(stream.total_out);
  return out;
}

std::string zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);  // as the zstd command does
  out.resize(ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size()));
  return out;
}

std::string inflate_prefix_gzip(std::string_view bytes) {
  std::string out;
  std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = input.data();
  state.avail_in = static_cast<std::uint32_t>(input.size());
  std::vector<char> buffer(std::size_t{1} << 16);
  for (;;) {
    state.next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
    state.avail_out = static_cast<std::uint32_t>(buffer.size());
    const int status = isal_inflate(&state);
    const std::size_t made = buffer.size() - state.avail_out;
    out.append(buffer.data(), made);
    if (status < 0 || state.block_state == ISAL_BLOCK_FINISH || (made == 0 && state.avail_in == 0)) return out;
  }
}

std::string inflate_prefix_zstd(std::string_view bytes) {
  std::string out;
  ZSTD_DStream* stream = ZSTD_createDStream();
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  std::vector<char> buffer(std::size_t{1} << 16);
  for (;;) {
    ZSTD_outBuffer output{buffer.data(), buffer.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream, &output, &input);
    out.append(buffer.data(), output.pos);
    if (ZSTD_isError(status) != 0 || (output.pos < buffer.size() && input.pos == input.size)) break;
  }
  ZSTD_freeDStream(stream);
  return out;
}

}  // namespace ridge::test
