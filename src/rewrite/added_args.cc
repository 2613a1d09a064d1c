// The keys and their order; each value as short as it is exact.
#include "rewrite/added_args.h"

#include <cmath>
#include <optional>

#include <ridge/json.h>

#include "base/json_numbers.h"

namespace ridge {
namespace {

// A key with what stands around it behind another member.
constexpr std::string_view kFlop = ", \"kernel_flop\": ", kGigabytes = ", \"kernel_num_gb\": ",
                           kFlopsPercent = ", \"achieved_flops_pct\": ", kBandwidthPercent = ", \"achieved_bandwidth_pct\": ",
                           kBound = ", \"bound\": ", kRoof = ", \"roof_us\": ";
constexpr std::string_view kOpen = ", \"", kClose = "\": ";
constexpr std::string_view name_of_key(std::string_view key) {
  return key.substr(kOpen.size(), key.size() - kOpen.size() - kClose.size());
}
constexpr std::string_view kWorkKeys[] = {name_of_key(kFlop),         name_of_key(kGigabytes),
                                          name_of_key(kFlopsPercent), name_of_key(kBandwidthPercent),
                                          name_of_key(kBound),        name_of_key(kRoof)};
constexpr std::string_view kOpKeys[] = {name_of_key(kFlop), name_of_key(kGigabytes), "ridge"};

constexpr int kGiga = 9;     // decimals
constexpr int kNsPerUs = 3;  // decimals
constexpr double kNsInUs = 1e3;

// Members of an object, one after another; a value that is not known or not finite is left out.
class MemberWriter {
 public:
  explicit MemberWriter(std::string* out) : out_(out) {}

  void number(std::string_view key, std::optional<double> value) {
    if (begin(key, value)) append_json_number(*out_, *value);
  }
  void scaled(std::string_view key, std::optional<double> value, int decimals) {
    if (begin(key, value)) append_json_scaled(*out_, *value, decimals);
  }
  void rounded(std::string_view key, std::optional<double> value) {
    if (begin(key, value)) append_json_rounded(*out_, *value);
  }
  void text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    write_key(key);
    append_json_string(*out_, value);
  }

 private:
  bool begin(std::string_view key, std::optional<double> value) {
    if (!value || !std::isfinite(*value)) return false;
    write_key(key);
    return true;
  }
  void write_key(std::string_view key) {
    constexpr std::size_t kComma = 2;
    out_->append(first_ ? key.substr(kComma) : key);
    first_ = false;
  }

  std::string* out_;
  bool first_ = true;
};

std::optional<double> divided(std::optional<double> value, double by) {
  return value ? std::optional(*value / by) : std::nullopt;
}

}  // namespace

std::span<const std::string_view> added_work_keys() { return kWorkKeys; }
std::span<const std::string_view> added_op_keys() { return kOpKeys; }
std::span<const std::string_view> added_generated_op_keys() { return std::span(kOpKeys).last(1); }

std::optional<double> total_bytes(const LaunchCost& cost) {
  if (!cost.bytes_read || !cost.bytes_written) return std::nullopt;
  return *cost.bytes_read + *cost.bytes_written;
}

void append_work_members(const LaunchCost& cost, const Roof& roof, std::string* out) {
  MemberWriter members(out);
  members.number(kFlop, cost.flops);
  members.scaled(kGigabytes, total_bytes(cost), kGiga);
  members.rounded(kFlopsPercent, roof.pct_peak_flops);
  members.rounded(kBandwidthPercent, roof.pct_peak_bandwidth);
  members.text(kBound, name_of(roof.bound));
  members.rounded(kRoof, divided(roof.roof_ns, kNsInUs));
}

void append_op_members(const OpSum& op, bool generated, std::string* out) {
  if (!generated && op.own.kernels > 0) {
    const std::size_t before = out->size();
    MemberWriter own(out);
    if (op.own.without_flops == 0) own.number(kFlop, op.own.flops);
    if (op.own.without_bytes == 0) own.scaled(kGigabytes, op.own.bytes, kGiga);
    if (out->size() > before) out->append(", ");
  }
  const WorkSum& sum = op.all;
  out->append("\"ridge\": {");
  MemberWriter members(out);
  members.number(", \"kernels\": ", sum.kernels);
  members.scaled(", \"device_us\": ", static_cast<double>(sum.device_ns), kNsPerUs);
  if (sum.without_flops < sum.kernels) members.number(", \"flops\": ", sum.flops);
  if (sum.without_bytes < sum.kernels) members.scaled(", \"gb\": ", sum.bytes, kGiga);
  if (sum.without_flops > 0) members.number(", \"kernels_without_flops\": ", sum.without_flops);
  if (sum.without_bytes > 0) members.number(", \"kernels_without_gb\": ", sum.without_bytes);
  out->append("}");
}

}  // namespace ridge
