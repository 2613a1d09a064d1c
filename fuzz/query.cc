// Targets of requests from any bytes: what is accepted has one canonical text, which reads back as the same; the readers of
// parameters hold.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/query.h"
#include "server/security.h"

namespace {

using namespace ridge;
using namespace ridge::server;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_parameters(const Target& target) {
  for (const auto& [name, value] : target.query) {
    Parameters parameters(target);
    const std::int64_t number = parameters.integer(name, 0, -1000, 1000);
    require(number >= -1000 && number <= 1000);
    (void)parameters.ids(name);
    (void)parameters.text(name, "");
    (void)parameters.finish();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Policy policy{.loopback = true, .host = "127.0.0.1", .machine_name = "box", .token = "0123456789abcdef", .port = 1};
  const RequestFacts facts{.method = "GET",
                           .host = text,
                           .origin = text,
                           .fetch_site = text,
                           .fetch_mode = text,
                           .fetch_dest = text,
                           .path = text,
                           .cookie = text,
                           .has_body = false};
  if (!refuse_request(policy, facts)) require(text.find("evil") == std::string_view::npos);
  auto target = parse_target(text);
  if (!target) return 0;
  require(target->query.size() <= kMostParameters);
  const std::string canonical = target->canonical();
  const auto again = parse_target(canonical);
  // A text of escapes may grow beyond the longest target; what fits must read back.
  if (canonical.size() <= kLongestTarget) require(again && again->path == target->path && again->query == target->query);
  check_parameters(*target);
  (void)is_authorised(policy, facts, &*target);
  require(!target->query.contains("token"));
  return 0;
}
