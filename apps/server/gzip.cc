// Compresses with the most thorough level of ISA-L.
#include "gzip.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <isa-l/igzip_lib.h>

namespace ridge::server {

std::string gzip(std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max() / 2) return {};
  std::string out(text.size(), '\0');
  std::vector<unsigned char> work(ISAL_DEF_LVL3_EXTRA_LARGE);
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.level = 3;
  stream.level_buf = work.data();
  stream.level_buf_size = static_cast<std::uint32_t>(work.size());
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in =
      const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(text.data()));  // the library only reads it
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  if (isal_deflate(&stream) != COMP_OK || stream.avail_in != 0 || stream.internal_state.state != ZSTATE_END) return {};
  out.resize(out.size() - stream.avail_out);
  return out;
}

}  // namespace ridge::server
