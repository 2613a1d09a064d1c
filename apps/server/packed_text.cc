// Compression by ISA-L at its first level, which keeps up with the writing of JSON, and the reading of Accept-Encoding.
#include "packed_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <isa-l/igzip_lib.h>

namespace ridge::server {
namespace {

constexpr std::size_t kWorthPacking = 1024;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;  // ISA-L counts in 32 bits, and room is made in such steps

unsigned char* bytes_of(const char* text) {
  return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(text));  // the library only reads its input
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "q=0", "q=0.0", "q=0.000"
bool is_refused(std::string_view parameters) {
  const std::size_t q = parameters.find("q=");
  if (q == std::string_view::npos) return false;
  const std::string_view value = trimmed(parameters.substr(q + 2));
  return !value.empty() && value.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const std::size_t end = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view item = accept_encoding.substr(0, end);
    accept_encoding.remove_prefix(std::min(end + 1, accept_encoding.size()));
    const std::size_t semicolon = std::min(item.find(';'), item.size());
    if (trimmed(item.substr(0, semicolon)) == "gzip") return !is_refused(item.substr(semicolon));
  }
  return false;
}

struct TextPacker::Stream {
  isal_zstream z{};
  std::vector<unsigned char> work = std::vector<unsigned char>(ISAL_DEF_LVL1_DEFAULT);

  Stream() {
    isal_deflate_init(&z);
    z.level = 1;
    z.level_buf = work.data();
    z.level_buf_size = static_cast<std::uint32_t>(work.size());
    z.gzip_flag = IGZIP_GZIP;
    z.flush = NO_FLUSH;
  }
};

TextPacker::TextPacker() = default;
TextPacker::~TextPacker() = default;

void TextPacker::add(std::string_view piece) {
  made_.text_size_ += piece.size();
  if (stream_ == nullptr) {
    if (made_.text_size_ < kWorthPacking) {
      made_.bytes_ += piece;
      return;
    }
    stream_ = std::make_unique<Stream>();
    const std::string before = std::move(made_.bytes_);
    made_.bytes_.clear();
    made_.gzip_ = true;
    pack(before, false);
  }
  for (; piece.size() > kPieceBytes; piece.remove_prefix(kPieceBytes)) pack(piece.substr(0, kPieceBytes), false);
  pack(piece, false);
}

// The level that is used asks for nothing but room: all of the piece is taken, and at the end all of the stream is given.
void TextPacker::pack(std::string_view piece, bool last) {
  isal_zstream& z = stream_->z;
  z.next_in = bytes_of(piece.data());
  z.avail_in = static_cast<std::uint32_t>(piece.size());
  z.end_of_stream = last ? 1 : 0;
  unsigned char out[16 << 10];
  do {
    z.next_out = out;
    z.avail_out = sizeof out;
    isal_deflate(&z);
    made_.bytes_.append(reinterpret_cast<const char*>(out), sizeof out - z.avail_out);
  } while (last ? z.internal_state.state != ZSTATE_END : z.avail_in > 0 || z.avail_out == 0);
}

PackedText TextPacker::finish() {
  if (stream_ != nullptr) pack({}, true);
  made_.bytes_.shrink_to_fit();
  return std::move(made_);
}

PackedText::PackedText(std::string_view text) {
  TextPacker packer;
  packer.add(text);
  *this = packer.finish();
}

std::string PackedText::text() const {
  std::string all;
  all.reserve(text_size_);
  TextUnpacker unpacker(*this);
  for (std::string_view piece; !(piece = unpacker.next(kPieceBytes)).empty();) all += piece;
  return all;
}

struct TextUnpacker::Stream {
  inflate_state state{};

  explicit Stream(const std::string& bytes) {
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
    state.next_in = bytes_of(bytes.data());
    state.avail_in = static_cast<std::uint32_t>(bytes.size());
  }
};

TextUnpacker::TextUnpacker(const PackedText& packed)
    : stream_(packed.is_gzip() ? std::make_unique<Stream>(packed.bytes()) : nullptr), packed_(packed) {}
TextUnpacker::~TextUnpacker() = default;

std::string_view TextUnpacker::next(std::size_t most) {
  const std::size_t size = std::min(most, packed_.text_size() - given_);
  const std::string_view plain = std::string_view(packed_.bytes()).substr(stream_ == nullptr ? given_ : 0);
  given_ += size;
  if (stream_ == nullptr) return plain.substr(0, size);
  piece_.resize(size);
  if (size == 0) return {};
  stream_->state.next_out = bytes_of(piece_.data());
  stream_->state.avail_out = static_cast<std::uint32_t>(size);
  isal_inflate(&stream_->state);  // of bytes that were packed here
  return piece_;
}

}  // namespace ridge::server
