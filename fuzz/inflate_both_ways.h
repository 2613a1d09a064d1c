// Shared by the fuzz targets of compressed sources: any bytes end, nothing is read out of bounds, and the same bytes come out
// however small the portions asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "ingest/container.h"

namespace ridge {

constexpr std::size_t kMost = std::size_t{4} << 20;

class BytesSource final : public Source {
 public:
  explicit BytesSource(std::string_view bytes) : bytes_(bytes) {}
  Result<std::size_t> read(char* out, std::size_t size) override {
    const std::size_t got = bytes_.copy(out, size);
    bytes_.remove_prefix(got);
    used_ += got;
    return got;
  }
  std::uint64_t file_position() const override { return used_; }

 private:
  std::string_view bytes_;
  std::uint64_t used_ = 0;
};

using MakeSource = std::unique_ptr<Source> (*)(std::unique_ptr<Source>);

inline std::string inflate(MakeSource make, std::string_view bytes, std::size_t portion, bool* damaged) {
  const std::unique_ptr<Source> source = make(std::make_unique<BytesSource>(bytes));
  std::string out;
  std::string buffer(portion, '\0');
  while (out.size() < kMost) {
    const Result<std::size_t> got = source->read(buffer.data(), buffer.size());
    if (!got) std::abort();
    out.append(buffer, 0, *got);
    if (*got < portion) break;
  }
  *damaged = source->damage().any();
  return out;
}

inline void inflate_both_ways(MakeSource make, std::string_view bytes) {
  bool damage = false, other_damage = false;
  const std::string whole = inflate(make, bytes, std::size_t{64} << 10, &damage);
  const std::string parts = inflate(make, bytes, 1013, &other_damage);
  if (whole.size() >= kMost || parts.size() >= kMost) return;
  // A corrupt stream may give a few bytes more or less before the error is seen; a sound one never.
  if (!damage && (whole != parts || other_damage)) std::abort();
  const std::size_t common = std::min(whole.size(), parts.size());
  if (whole.compare(0, common, parts, 0, common) != 0) std::abort();
}

}  // namespace ridge
