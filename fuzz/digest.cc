// Digests from any bytes, inside a record whose length and hash fit: read without harm, written as they were read, and answered
// as a job of two ranks.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks/ranks.h"
#include "base/hash.h"
#include "job/digest_file.h"
#include "job/job.h"

namespace {

using namespace ridge;

void require(bool condition) {
  if (!condition) std::abort();
}

std::string word(std::uint64_t value) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string content(reinterpret_cast<const char*>(data), size);
  (void)read_digests(content, "bytes");
  const auto read =
      read_digests(std::string(kDigestMagic) + word(content.size()) + content + word(hash_text(content)), "record");
  if (!read) return 0;
  std::string bytes;
  append_digest(read->front(), &bytes);
  const auto again = read_digests(bytes, "again");
  require(again.has_value() && again->front() == read->front());
  std::vector<Digest> job = {read->front(), read->front()};
  job[1].rank = job[0].rank.value_or(0) == 0 ? 1 : 0;
  require(!report_ranks(compute_ranks(assemble_job(job))).tables.empty());
  return 0;
}
