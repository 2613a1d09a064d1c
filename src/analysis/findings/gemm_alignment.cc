// gemm_alignment: matrix products whose operands the tensor cores cannot load well, because rows do not start at multiples of
// 16 bytes, or whose size fills the last tiles badly. Sizes come from the op's shapes, the layout from its strides, the tile
// from the kernel's name. What to pad is told by what the odd dimension is in a layer. Products that another finding replaces
// have no size to mend.
//
// Where shapes were not recorded a kernel's name tells of it too: CUTLASS' kernels for half precision that load one or two
// elements at a time (align1, align2) are what cuBLAS takes where nothing wider fits.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/least_time.h"
#include "analysis/findings/product_shape.h"
#include "base/saturating.h"
#include "kernel_names/tile_in_name.h"
#include "ops/operands.h"

namespace ridge {
namespace {

constexpr double kGoodPeakPct = 60;               // of the peak: such a product needs no help
constexpr double kWastedPart = 0.25;              // of the computed tiles outside of the matrix
constexpr std::int64_t kLeastProductNs = 10'000;  // shorter products are bound by their latency, whatever their size
// Of a product whose name alone tells: long enough to have something to gain. Padded products of the recorded programs that
// docs/accuracy.md calls read took 0.17 to 0.27 of the time (five of them); none can take less than a fiftieth.
constexpr std::int64_t kLeastByNameNs = 50'000;
constexpr double kSavedByName = 0.77, kMostByName = 0.98;

// The part of the tiles that lies outside of the matrix, the better way round: libraries differ in which side of the tile is
// whose.
double wasted(const ProductShape& s, std::pair<double, double> tile) {
  const auto filled = [&](double tm, double tn) {
    return s.m / (std::ceil(s.m / tm) * tm) * (s.n / (std::ceil(s.n / tn) * tn));
  };
  return 1 - std::max(filled(tile.first, tile.second), filled(tile.second, tile.first));
}

// What is off about a launch, the time that it may cost at most, and that it is expected to; nothing where the size is fine.
struct Trouble {
  bool misaligned = false;
  std::optional<double> at_most_ns;
  double saved_ns = 0;
};

class Products {
 public:
  explicit Products(Facts& facts) : facts_(facts), ops_(ops(facts.trace())) {}

  std::optional<Trouble> trouble(const WorkSlot& slot) {
    const std::uint32_t row = slot.work.row;
    const auto shape = shape_at(facts_.op(row));
    const std::string_view kernel = facts_.kernel(row);
    if (!shape) return trouble_by_name(slot, kernel);
    const Roof roof = facts_.scope().costs().roof(row);
    if (roof.pct_peak_flops.value_or(0) >= kGoodPeakPct) return std::nullopt;
    // float32 on the ordinary units loads element by element: its trouble is another one (tf32_off).
    const bool cores = shape->item < 4 || kernel.find("tf32") != kernel.npos;
    if (cores && shape->misaligned()) return Trouble{true, roof.headroom_ns, saved_by_padding(slot, *shape)};
    const auto tile = first_tile(kernel);
    const double part = tile ? wasted(*shape, *tile) : 0;
    // A matrix smaller than one tile has nothing to fill it with.
    const bool several = tile && shape->m * shape->n > tile->first * tile->second;
    if (!several || part < kWastedPart) return std::nullopt;
    const double lost = part * static_cast<double>(slot.owned_ns);
    return Trouble{false, std::max(lost, roof.headroom_ns.value_or(lost)), lost};
  }

  std::optional<Trouble> trouble_by_name(const WorkSlot& slot, std::string_view kernel) {
    const auto holds = [&](std::string_view part) { return kernel.find(part) != kernel.npos; };
    const bool half = holds("tensorop") && (holds("bf16") || holds("_f16")) && (holds("_align1") || holds("_align2"));
    const NodeId op = facts_.op(slot.work.row);
    if (!half || slot.work.end_ns - slot.work.start_ns < kLeastByNameNs) return std::nullopt;
    if (op != kNoNode && facts_.call(op).has_shapes) return std::nullopt;  // an op that is no plain product
    const auto time = static_cast<double>(slot.owned_ns);
    return Trouble{true, kMostByName * time, kSavedByName * time};
  }

  // Row by row, as a softmax goes over the result of such a product: its rows are not aligned either.
  std::optional<Trouble> trouble_of_rows(const WorkSlot& slot) {
    const ExpectedCall* ran = facts_.ran(slot.work.row);
    if (ran == nullptr || (ran->features.kind != "softmax" && !ran->features.kind.starts_with("norm"))) return std::nullopt;
    const TensorShape* x = tensor_at(ran->call->call, 0);
    if (x == nullptr || x->sizes.empty() || !padded_.contains(x->sizes.back())) return std::nullopt;
    const Roof roof = facts_.scope().costs().roof(slot.work.row);
    return roof.headroom_ns ? std::optional(Trouble{true, roof.headroom_ns, saved(slot, *ran, padded_)}) : std::nullopt;
  }

  // What padding may make faster, though it is short or near its peak as it is, and what else goes over such rows.
  bool may_gain(const WorkSlot& slot) {
    if (const auto shape = shape_at(facts_.op(slot.work.row)); shape && shape->misaligned()) return true;
    const ExpectedCall* ran = facts_.ran(slot.work.row);
    const TensorShape* x = ran == nullptr ? nullptr : tensor_at(ran->call->call, 0);
    return x != nullptr && !x->sizes.empty() && padded_.contains(x->sizes.back());
  }

  // "output features 30522 to 30528": what would be padded.
  std::vector<std::string> to_pad(std::uint32_t row) {
    std::vector<std::string> parts;
    const auto shape = shape_at(facts_.op(row));
    if (!shape) return parts;
    const bool backward = facts_.phase(facts_.op(row)) == Phase::backward;
    const double grid = static_cast<double>(shape->grid());
    for (const char dimension : shape->odd) {
      const double size = shape->size(dimension);
      parts.push_back(
          fmt::format("{} {:.0f} to {:.0f}", name_of(shape->side(dimension, backward)), size, std::ceil(size / grid) * grid));
    }
    if (shape->odd_strides) parts.push_back(fmt::format("the tensor that a view of {} cuts out", size_text(row)));
    return parts;
  }

  // What such a product takes with sizes that a vector load takes; where that is not known, all above the roof.
  double saved_by_padding(const WorkSlot& slot, const ProductShape& shape) {
    std::map<std::int64_t, std::int64_t> sizes;
    const auto grid = static_cast<double>(shape.grid());
    for (const char dimension : shape.odd) {
      const double size = shape.size(dimension);
      sizes[static_cast<std::int64_t>(size)] = static_cast<std::int64_t>(std::ceil(size / grid) * grid);
    }
    padded_.insert(sizes.begin(), sizes.end());
    const ExpectedCall* ran = facts_.ran(slot.work.row);
    if (ran == nullptr) return facts_.scope().costs().roof(slot.work.row).headroom_ns.value_or(0);
    return saved(slot, *ran, sizes);
  }
  double saved(const WorkSlot& slot, const ExpectedCall& ran, const std::map<std::int64_t, std::int64_t>& sizes) {
    const bool tf32 = ran.features.unit == DType::tf32;
    const auto left = facts_.would_take().left_of(ran, with_sizes(ran.call->call, sizes), tf32);
    return left ? (1 - left->part) * static_cast<double>(slot.owned_ns) : 0;
  }

  std::string size_text(std::uint32_t row) {
    const auto s = shape_at(facts_.op(row));
    return s ? fmt::format("{:.0f}x{:.0f}x{:.0f}", s->m, s->n, s->k) : "";
  }
  std::string text_of(std::uint32_t row) {
    const std::string size = size_text(row);
    const std::string by = facts_.op(row) == kNoNode ? "" : " by " + std::string(facts_.name(facts_.op(row)));
    return fmt::format("{}{} ({})", size.empty() ? "a product of unknown size" : size, by, facts_.identity(row).label);
  }
  StringId dims(std::uint32_t row) const {
    if (facts_.op(row) == kNoNode) return StringId{};
    return ops_.input_dims.text(facts_.tree().event[facts_.op(row).value]).value_or(StringId{});
  }

 private:
  // Parsed once per distinct text.
  std::optional<ProductShape> shape_at(NodeId op) {
    if (op == kNoNode) return std::nullopt;
    const EventId event = facts_.tree().event[op.value];
    const auto text = [&](const ArgColumn& column) { return column.text(event).value_or(StringId{}); };
    const std::array<std::uint32_t, 4> key = {facts_.name_id(op).value, text(ops_.input_dims).value,
                                              text(ops_.input_type).value, text(ops_.input_strides).value};
    const auto [it, added] = shapes_.try_emplace(key);
    if (added) {
      const Trace& trace = facts_.trace();
      it->second = product_shape(parse_op_call(facts_.name(op), trace.text(StringId{key[1]}), trace.text(StringId{key[2]}),
                                               trace.text(StringId{key[3]}), {}));
    }
    return it->second;
  }

  Facts& facts_;
  OpTable ops_;
  std::map<std::array<std::uint32_t, 4>, std::optional<ProductShape>> shapes_;
  std::map<std::int64_t, std::int64_t> padded_;  // sizes of products in trouble, and what to pad them to
};

// What to pad, of the products with most time: each once.
std::string padding(Products& products, const Tally& tally) {
  std::vector<std::string> parts;
  const std::vector<Tally::Entry> top = tally.top();
  for (std::size_t i = 0; i < top.size() && i < kShown; ++i) {
    for (std::string& part : products.to_pad(top[i].sample)) {
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
    }
  }
  if (parts.empty()) return "record with record_shapes=True to see which";
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::optional<Finding> find_gemm_alignment(Facts& facts) {
  Claim claim(facts.ledger());
  Products products(facts);
  Tally tally;
  std::int64_t time_ns = 0;
  bool bounded = true, misaligned = false;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> taken;  // of a device's work
  const auto take = [&](std::size_t d, std::size_t i, const Trouble& trouble) {
    if (trouble.at_most_ns)
      taken[{d, i}] =
          claim.take_work(d, i, static_cast<std::int64_t>(*trouble.at_most_ns), static_cast<std::int64_t>(trouble.saved_ns));
  };
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const std::uint32_t row = slot.work.row;
    const KernelIdentity& kernel = facts.identity(row);
    if (kernel.category != Category::gemm || kernel.helper || slot.work.end_ns - slot.work.start_ns < kLeastProductNs ||
        facts.is_replaced(row))
      return;
    const auto trouble = products.trouble(slot);
    if (!trouble) return;
    tally.add(products.dims(row), facts.kernel_id(row).value, row, slot.open_ns);
    saturating_add(&time_ns, slot.open_ns);
    misaligned = misaligned || trouble->misaligned;
    bounded = bounded && trouble->at_most_ns.has_value();
    take(d, i, *trouble);
  });
  if (misaligned) {
    for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
      if (const auto trouble = products.trouble_of_rows(slot)) take(d, i, *trouble);
      if (!products.may_gain(slot)) return;
      const auto got = taken.find({d, i});
      const std::int64_t most = most_gain_ns(facts, slot, facts.ledger().devices()[d].device);
      claim.reach_work(d, i, most - (got == taken.end() ? 0 : got->second), 0);
    });
  }
  const auto devices = static_cast<std::int64_t>(std::max<std::size_t>(1, facts.ledger().devices().size()));
  if (time_ns / devices < facts.ledger().least_ns() || time_ns == 0 || (bounded && !claim.keep())) return std::nullopt;
  claim.keep_anyway();
  return Finding{.finding = misaligned ? "GEMMs with rows that are not 16-byte aligned"
                                       : "GEMMs with poorly filled last tiles (tile quantization)",
                 .at_most_ns = bounded ? std::optional(claim.ns()) : std::nullopt,
                 .confidence = misaligned ? Confidence::medium : Confidence::low,
                 .evidence = evidence_of(facts, tally, [&](std::uint32_t row) { return products.text_of(row); }),
                 .action = misaligned ? "pad sizes to multiples of 8 (float16, bfloat16), 16 (float8) or 4 (TF32): " +
                                            padding(products, tally)
                                      : "choose sizes that are multiples of 64 or 128",
                 .event = facts.event_of_work(tally.largest())};
}

}  // namespace ridge
