// Reads Accept-Encoding, and compresses.
#include "gzip.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <isa-l/igzip_lib.h>

namespace ridge::server {
namespace {

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

std::string gzip(std::string_view bytes, Effort effort) {
  if (bytes.size() > std::numeric_limits<std::uint32_t>::max() / 2) return {};
  std::string out(bytes.size(), '\0');
  const bool quick = effort == Effort::quick;
  std::vector<unsigned char> work(quick ? ISAL_DEF_LVL1_DEFAULT : ISAL_DEF_LVL3_EXTRA_LARGE);
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.level = quick ? 1 : 3;
  stream.level_buf = work.data();
  stream.level_buf_size = static_cast<std::uint32_t>(work.size());
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in =
      const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));  // the library only reads it
  stream.avail_in = static_cast<std::uint32_t>(bytes.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  if (isal_deflate(&stream) != COMP_OK || stream.avail_in != 0 || stream.internal_state.state != ZSTATE_END) return {};
  out.resize(out.size() - stream.avail_out);
  return out;
}

}  // namespace ridge::server
