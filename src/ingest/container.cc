// The table of containers.
#include "ingest/container.h"

#include <algorithm>
#include <utility>

namespace ridge {
namespace {

bool is_gzip(std::string_view b) { return b.starts_with("\x1f\x8b"); }

bool is_zstd(std::string_view b) {
  if (b.size() < 4) return false;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(b[i]); };
  const bool frame = byte(0) == 0x28 && byte(1) == 0xB5 && byte(2) == 0x2F && byte(3) == 0xFD;
  const bool skippable = (byte(0) & 0xF0) == 0x50 && byte(1) == 0x2A && byte(2) == 0x4D && byte(3) == 0x18;
  return frame || skippable;
}

bool is_anything(std::string_view) { return true; }
std::unique_ptr<Source> as_it_is(std::unique_ptr<Source> inner) { return inner; }

constexpr Container kContainers[] = {
    {"gzip", is_gzip, make_gzip_source},
    {"zstd", is_zstd, make_zstd_source},
    {kPlain, is_anything, as_it_is},
};

}  // namespace

std::span<const Container> containers() { return kContainers; }

const Container& container_of(std::string_view prefix) {
  return *std::ranges::find_if(kContainers, [&](const Container& each) { return each.recognise(prefix); });
}

}  // namespace ridge
