// layout_transforms: kernels that only turn NCHW into NHWC or back around convolutions. Libraries launch them for tensors in
// the order that their kernels do not take; Inductor writes them as copies named after the convolution alone.
#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

bool has_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (name.find(part) != name.npos) return true;
  }
  return false;
}

bool is_transform(const KernelIdentity& kernel, std::string_view name) {
  if (kernel.category == Category::layout && kernel.helper)
    return has_any(name, {"nchwTo", "nhwcTo", "foldedNhwc", "FoldedNhwc", "batched_transpose", "NCHW2", "CNHW2"});
  if (kernel.category != Category::triton_pointwise || kernel.fused_ops.empty()) return false;
  for (const std::string& op : kernel.fused_ops) {
    if (op != "convolution" && op != "convolution_backward") return false;
  }
  return true;
}

}  // namespace

std::optional<Finding> find_layout_transforms(Facts& facts) {
  // Asked once per identity, of which there are few.
  const KernelIdentities& all = facts.model().identities();
  std::vector<std::int8_t> known(all.identities.size(), -1);
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    if (slot.work.sort != WorkSort::compute) return;
    const std::uint32_t row = slot.work.row;
    std::int8_t& answer = known[all.of_row[row]];
    if (answer < 0) answer = is_transform(facts.identity(row), facts.kernel(row)) ? 1 : 0;
    if (answer == 1) tally.add(row, claim.take_work(d, i));
  });
  if (!claim.keep()) return std::nullopt;
  return Finding{
      .finding = "layout transforms around convolutions: " + per_iteration(facts, tally.tally().count(), "transform"),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = tally.text(),
      .action =
          "keep model and inputs in channels_last: model.to(memory_format=torch.channels_last), and the same for each input",
      .event = tally.event()};
}

}  // namespace ridge
