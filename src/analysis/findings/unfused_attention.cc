// unfused_attention: attention as product, softmax, product, with every score written to memory and read again. A fused kernel
// does both products and keeps the scores on chip. Forward that is two products and what stands between them, backward four.
// What a fused call takes at these sizes stays; where that is not known, most of what the products take. Copies that put heads
// side by side for the products, and the scale of one factor, stand before them, a copy of the result behind: a fused call
// takes its tensors as they lie.
#include <algorithm>
#include <map>
#include <span>

#include "analysis/findings/attention_shape.h"
#include "analysis/findings/catalog.h"
#include "base/time_limits.h"
#include "facts/break_costs.h"

namespace ridge {
namespace {

// Scale, bias, mask, casts, softmax, dropout: what a program puts between the two products. More is something else.
constexpr std::size_t kMostBetweenProducts = 10;
constexpr int kMostBefore = 5;  // three factors that are turned, one that is scaled, and a copy of the library's own
// Of the products, where sizes are not told: fused forward calls on an H200 take 0.4 to 1 times as long, the mean of those that
// docs/accuracy.md calls read. Backward they make the scores once more: 1.3 to 3 times, the less the smaller the heads.
constexpr double kFusedOfProducts = 0.75, kFusedOfProductsBackward = 1.7;

// The softmax of scaled_dot_product_attention's math form, and of nothing else: a compiler keeps its name.
bool is_safe_softmax(std::string_view op) { return op == "_safe_softmax"; }
bool is_softmax_name(std::string_view op) { return op.find("softmax") != op.npos && op.find("log_softmax") == op.npos; }

// What is expected of shapes that no tensor has is more than int64 holds.
std::int64_t whole_ns(double ns) { return static_cast<std::int64_t>(std::min(ns, static_cast<double>(kLongestDurationNs))); }

class Attention {
 public:
  Attention(Facts& facts, Claim& claim) : facts_(facts), claim_(claim), tally_(facts), shapes_(facts) {}

  void walk(std::size_t device) {
    device_ = device;
    std::map<std::int64_t, Chain> streams;
    for (std::size_t i = 0; i < slots().size(); ++i) {
      const WorkRow& work = slots()[i].work;
      if (work.sort == WorkSort::set) continue;  // belongs to a kernel
      Chain& chain = streams[work.stream];
      const bool computes = work.sort == WorkSort::compute;
      const bool light = computes ? is_light(work.row) : is_clone(work);
      if (computes && is_batched_product(work.row)) {
        chain.push_back({.product = i});
      } else if (!chain.empty() && light && chain.back().behind.size() < kMostBetweenProducts) {
        chain.back().softmax = chain.back().softmax || is_softmax(work.row);
        chain.back().behind.push_back(i);
      } else {
        take_calls(&chain);
      }
    }
    for (auto& [id, chain] : streams) take_calls(&chain);
  }

  std::int64_t found() const { return found_; }
  bool by_sdpa() const { return by_sdpa_; }
  const WorkTally& tally() const { return tally_; }
  const Removal& gone() const { return gone_; }
  const std::vector<std::uint32_t>& products() const { return products_; }  // rows: what a fused kernel does too

 private:
  // A batched product, and the light work of its stream between it and the next.
  struct Link {
    std::size_t product = 0;  // slots
    std::vector<std::size_t> behind = {};
    bool softmax = false;
  };
  using Chain = std::vector<Link>;  // one behind the other, with nothing else between

  const std::vector<WorkSlot>& slots() const { return facts_.ledger().devices()[device_].work; }
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
  // masked_fill, and other ops that first make their result a copy of an operand.
  bool is_clone(const WorkRow& work) const {
    return work.sort == WorkSort::copy &&
           facts_.trace().text(facts_.kernel_id(work.row)).find("DtoD") != std::string_view::npos;
  }
  bool is_softmax(std::uint32_t row) const { return is_softmax_name(op_name(row)) || fuses(row, is_softmax_name); }
  bool is_backward(const Link& link) const {
    return facts_.phase(facts_.launch(slots()[link.product].work.row)) == Phase::backward;
  }

  // A softmax between two products is a call; backward another product goes before them, and one behind.
  void take_calls(Chain* chain) {
    std::size_t free = 0;  // links before belong to a call
    for (std::size_t i = 0; i + 1 < chain->size(); ++i) {
      if (!(*chain)[i].softmax || i < free) continue;
      std::size_t first = i, last = i + 1;
      if (is_backward((*chain)[i])) {
        if (i > free && is_backward((*chain)[i - 1])) --first;
        if (last + 1 < chain->size() && !(*chain)[last].softmax && is_backward((*chain)[last + 1])) ++last;
      }
      take({chain->begin() + static_cast<std::ptrdiff_t>(first), chain->begin() + static_cast<std::ptrdiff_t>(last) + 1},
           (*chain)[i]);
      free = last + 1;
    }
    chain->clear();
  }

  // The fused kernel's time stands where the products stood.
  void take(std::span<const Link> call, const Link& softmax) {
    std::optional<double> stays = shapes_.fused_ns(slots()[softmax.product].work, ledger_device(), is_backward(softmax));
    if (!stays) {
      const double part = is_backward(softmax) ? kFusedOfProductsBackward : kFusedOfProducts;
      stays = 0;
      for (const Link& link : call) *stays += part * static_cast<double>(slots()[link.product].open_ns);
    }
    for (const Link& link : call) {
      const std::int64_t open = slots()[link.product].open_ns;
      const std::int64_t kept = std::min(open, whole_ns(*stays));
      products_.push_back(slots()[link.product].work.row);
      claim_.take_work(device_, link.product, open, open - kept);
      *stays -= static_cast<double>(kept);
    }
    for (const Link& link : call) {
      take_copies_before(link.product, &link == &call.front() && !is_backward(link));
      if (&link != &call.back()) take_behind(link, &*stays);
    }
    if (!is_backward(softmax) && !call.back().behind.empty() && is_turn(call.back().behind.front())) {
      const std::size_t result = call.back().behind.front();
      tally_.add(slots()[result].work.row, claim_.take_work(device_, result));
    }
    ++found_;
    add_host(call);
  }

  // A copy into another order, of the same type.
  bool is_turn(std::size_t slot) const {
    const WorkRow& work = slots()[slot].work;
    if (work.sort != WorkSort::compute || facts_.op(work.row) == kNoNode || op_name(work.row) != "aten::copy_") return false;
    if (facts_.identity(work.row).label.find("direct_copy") == std::string::npos) return false;
    const OpCall& call = facts_.call(facts_.op(work.row));
    return !call.has_shapes || (call.arguments.size() >= 2 && call.arguments[0].tensor.dtype == call.arguments[1].tensor.dtype);
  }
  // A factor times a number.
  bool is_scale(std::size_t slot) const {
    const WorkRow& work = slots()[slot].work;
    const std::string_view kernel = facts_.kernel(work.row);
    return work.sort == WorkSort::compute && kernel.find("UnaryFunctor<") != std::string_view::npos &&
           kernel.find("MulFunctor") != std::string_view::npos;
  }

  // What aten::matmul copies to make its factors fit a batched product; and before the `first`, what the program copies for
  // that.
  void take_copies_before(std::size_t product, bool first) {
    const NodeId known = facts_.known_as(facts_.launch(slots()[product].work.row));
    int taken = 0;
    for (std::size_t i = product; known != kNoNode && i-- > 0 && taken < kMostBefore;) {
      const WorkRow& work = slots()[i].work;
      if (work.stream != slots()[product].work.stream || work.sort == WorkSort::set) continue;
      const bool own = facts_.launch(work.row) != kNoNode && facts_.known_as(facts_.launch(work.row)) == known;
      if (!(own && is_light(work.row)) && !(first && (is_turn(i) || is_scale(i)))) break;
      tally_.add(work.row, claim_.take_work(device_, i));
      ++taken;
    }
  }

  // From the first launch to the last the host is at nothing else; one call of several stays.
  void add_host(std::span<const Link> call) {
    const auto known = [&](std::size_t slot) { return facts_.known_as(facts_.launch(slots()[slot].work.row)); };
    const NodeId first = known(call.front().product), last = known(call.back().product);
    const CallTree& tree = facts_.tree();
    if (first == kNoNode || last == kNoNode || first.value >= tree.recorded || last.value >= tree.recorded) return;
    const std::size_t thread = thread_of(tree, first);
    const Interval time{facts_.time(first).start_ns, facts_.time(last).end_ns};
    std::size_t launches = call.size();
    for (const Link& link : call.first(call.size() - 1)) launches += link.behind.size();
    if (thread != thread_of(tree, last) || time.length() <= 0) return;
    gone_.host.push_back({static_cast<std::uint32_t>(thread), time, 1 - 1 / static_cast<double>(launches)});
  }

  void take_behind(const Link& link, double* stays) {
    for (const std::size_t i : link.behind) {
      const std::uint32_t row = slots()[i].work.row;
      const std::int64_t open = slots()[i].open_ns;
      const std::int64_t kept = std::min(open, whole_ns(*stays));
      *stays -= static_cast<double>(kept);
      tally_.add(row, claim_.take_work(device_, i, open, open - kept));
      const NodeId known = facts_.known_as(facts_.launch(row));
      by_sdpa_ = by_sdpa_ || op_name(row) == "aten::_safe_softmax" || fuses(row, is_safe_softmax) ||
                 (known != kNoNode && facts_.name(known).find("scaled_dot_product_attention") != std::string_view::npos);
    }
  }
  std::int64_t ledger_device() const { return facts_.ledger().devices()[device_].device; }

  Facts& facts_;
  Claim& claim_;
  WorkTally tally_;
  AttentionShapes shapes_;
  Removal gone_;
  std::size_t device_ = 0;
  std::vector<std::uint32_t> products_;
  std::int64_t found_ = 0;
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
      .gone = attention.gone()};
}

}  // namespace ridge
