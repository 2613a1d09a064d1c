// unfused_attention: attention as product, softmax, product, with every score written to memory and read again. A fused kernel
// does both products and keeps the scores on chip: the products stay, what stands between them can go.
#include <algorithm>
#include <map>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"

namespace ridge {
namespace {

// Scale, bias, mask, casts, softmax, dropout: what a program puts between the two products. More is something else.
constexpr std::size_t kMostBetweenProducts = 10;

// The softmax of scaled_dot_product_attention's math form, and of nothing else: a compiler keeps its name.
bool is_safe_softmax(std::string_view op) { return op == "_safe_softmax"; }
bool is_softmax_name(std::string_view op) { return op.find("softmax") != op.npos && op.find("log_softmax") == op.npos; }

class Attention {
 public:
  Attention(Facts& facts, Claim& claim) : facts_(facts), claim_(claim), tally_(facts) {}

  void walk(std::size_t device) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::map<std::int64_t, Pending> streams;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const WorkRow& work = slots[i].work;
      if (work.sort == WorkSort::set) continue;  // belongs to a kernel
      Pending& pending = streams[work.stream];
      if (work.sort == WorkSort::compute && is_batched_product(work.row)) {
        if (pending.softmax) take(device, pending, i);
        pending = {.open = true, .softmax = false, .product = i, .between = {}};
      } else if (pending.open && work.sort == WorkSort::compute && is_light(work.row) &&
                 pending.between.size() < kMostBetweenProducts) {
        pending.softmax = pending.softmax || is_softmax(work.row);
        pending.between.push_back(i);
      } else {
        pending = {};
      }
    }
  }

  std::int64_t found() const { return found_; }
  bool by_sdpa() const { return by_sdpa_; }
  // A fused kernel computes the products too; they may become faster, which is not counted on.
  double expected_share() const {
    const std::int64_t whole = between_ns_ + products_ns_;
    return whole <= 0 ? 1 : static_cast<double>(between_ns_) / static_cast<double>(whole);
  }
  const WorkTally& tally() const { return tally_; }
  const std::vector<std::uint32_t>& products() const { return products_; }  // rows: what a fused kernel does too

 private:
  // What a stream did since its last batched product.
  struct Pending {
    bool open = false, softmax = false;
    std::size_t product = 0;  // slot of that product
    std::vector<std::size_t> between;
  };

  std::string_view op_name(std::uint32_t row) const {
    const NodeId op = facts_.op(row);
    return op == kNoNode ? std::string_view() : facts_.name(op);
  }
  bool fuses(std::uint32_t row, bool (*wanted)(std::string_view)) const {
    const std::vector<std::string>& ops = facts_.identity(row).fused_ops;
    return std::any_of(ops.begin(), ops.end(), wanted);
  }

  bool is_batched_product(std::uint32_t row) const {
    const KernelIdentity& kernel = facts_.identity(row);
    const auto is_bmm = [](std::string_view op) { return op.find("bmm") != op.npos; };
    if (kernel.category == Category::triton_template) return fuses(row, is_bmm);
    return kernel.category == Category::gemm && is_bmm(op_name(row));
  }
  bool is_light(std::uint32_t row) const {
    const Category c = facts_.identity(row).category;
    return c == Category::elementwise || c == Category::reduction || c == Category::layout ||
           (c < Category::triton_other && c != Category::triton_template);
  }
  bool is_softmax(std::uint32_t row) const { return is_softmax_name(op_name(row)) || fuses(row, is_softmax_name); }

  void take(std::size_t device, const Pending& pending, std::size_t second) {
    for (const std::size_t product : {pending.product, second}) {
      products_.push_back(facts_.ledger().devices()[device].work[product].work.row);
      saturating_add(&products_ns_, claim_.take_work(device, product));
    }
    for (const std::size_t i : pending.between) {
      const std::uint32_t row = facts_.ledger().devices()[device].work[i].work.row;
      const std::int64_t got = claim_.take_work(device, i);
      saturating_add(&between_ns_, got);
      tally_.add(row, got);
      const NodeId known = facts_.known_as(facts_.launch(row));
      by_sdpa_ = by_sdpa_ || op_name(row) == "aten::_safe_softmax" || fuses(row, is_safe_softmax) ||
                 (known != kNoNode && facts_.name(known).find("scaled_dot_product_attention") != std::string_view::npos);
    }
    ++found_;
  }

  Facts& facts_;
  Claim& claim_;
  WorkTally tally_;
  std::vector<std::uint32_t> products_;
  std::int64_t found_ = 0;
  std::int64_t between_ns_ = 0, products_ns_ = 0;
  bool by_sdpa_ = false;
};

}  // namespace

std::optional<Finding> find_unfused_attention(Facts& facts) {
  Claim claim(facts.ledger());
  Attention attention(facts, claim);
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) attention.walk(d);
  if (attention.found() == 0 || !claim.keep()) return std::nullopt;
  for (const std::uint32_t row : attention.products()) facts.replace(row);
  const std::string_view gradient = facts.program() == ProgramKind::infers ? "" : " (no mask that needs a gradient)";
  return Finding{
      .finding = "unfused attention writes its scores to memory and reads them back: " +
                 per_iteration(facts, attention.found(), "call"),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = attention.tally().text(),
      .action = attention.by_sdpa()
                    ? "scaled_dot_product_attention uses its math backend here: give it float16 or bfloat16 tensors, and a "
                      "head size and mask that its fused kernels support" +
                          std::string(gradient)
                    : "call torch.nn.functional.scaled_dot_product_attention, which keeps the scores on chip; pass bias and "
                      "mask as attn_mask",
      .event = attention.tally().event(),
      .comes_true = attention.expected_share()};
}

}  // namespace ridge
