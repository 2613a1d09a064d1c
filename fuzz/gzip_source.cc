// The gzip source on any bytes.
#include "inflate_both_ways.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ridge::inflate_both_ways(ridge::make_gzip_source, {reinterpret_cast<const char*>(data), size});
  return 0;
}
