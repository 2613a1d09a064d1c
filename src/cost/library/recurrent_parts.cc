// Recurrent networks: which of the library's products is a time step's, which one takes all steps, and of which layer and
// weights.
#include <algorithm>
#include <map>
#include <utility>

#include "cost/library/call_parts.h"
#include "ops/recurrent.h"

namespace ridge {
namespace {

constexpr int kMostCells = 1024;  // layers and directions that anyone builds

bool is_product(std::string_view kernel) {
  return kernel.find("gemm") != std::string_view::npos || kernel.starts_with("nvjet") ||
         (kernel.find("splitK") != std::string_view::npos && kernel.find("splitKreduce") == std::string_view::npos);
}

class RecurrentParts {
 public:
  RecurrentParts(CallParts& c, const RecurrentSizes& sizes)
      : c_(c),
        sizes_(sizes),
        steps_(static_cast<std::size_t>(sizes.steps)),
        directions_(static_cast<std::size_t>(sizes.directions)) {}

  void assign() {
    list_launches();
    if (sizes_.of_steps.empty()) {
      tell_by_counts();
      if (!take_cells()) take_chunks();
    } else if (tell_by_order()) {
      take_cells();
    } else {
      guess_cells();
    }
    take_weights();
    take_sums();
    for (const std::size_t i : dropouts_) take_dropout(i);
  }

 private:
  using Launches = std::vector<std::size_t>;
  RecurrentPart& part(std::size_t i) { return c_.parts[i].edit<RecurrentPart>(); }
  std::pair<const char*, double> key(std::size_t i) const {
    return {c_.launches[i].kernel.data(), volume(c_.launches[i].grid)};
  }

  void list_launches() {
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      const std::string_view kernel = c_.launches[i].kernel;
      const KernelRole role = c_.parts[i].role;
      if (role == KernelRole::bias) dropouts_.push_back(i);
      if (role == KernelRole::apply) cells_.push_back(i);
      if (role == KernelRole::combine) (kernel.find("splitK") != std::string_view::npos ? splits_ : sums_).push_back(i);
      if (role != KernelRole::main || !is_product(kernel)) continue;
      const bool of_weights = c_.backward() && kernel.find("_nt_") != std::string_view::npos;
      (of_weights ? weights_ : products_).push_back(i);
    }
  }

  // A product that is launched at least once for each step is a step's. Of the others there is one for each cell (layer and
  // direction).
  void tell_by_counts() {
    std::map<std::pair<const char*, double>, double> launched;
    for (std::size_t i = 0; i < c_.launches.size(); ++i) launched[key(i)] += 1;
    const auto of_step = [&](std::size_t i) { return launched[key(i)] >= sizes_.steps; };
    for (const std::size_t i : products_) {
      if (of_step(i))
        c_.parts[i].role = KernelRole::step;
      else
        inputs_.push_back(i);
    }
    for (const std::size_t i : weights_) {
      if (of_step(i)) c_.parts[i].role = KernelRole::step;
    }
    std::erase_if(weights_, of_step);
  }

  // Packed sequences: the library picks another kernel for each number of sequences, but keeps the order. Layer by layer
  // (backward from the last) there are the inputs' products and one for each step, the directions in turn; the other direction
  // goes over the steps from their end. False where the numbers differ.
  bool tell_by_order() {
    const std::size_t of_layer = directions_ * (steps_ + 1), layers = static_cast<std::size_t>(sizes_.layers);
    const bool whole = products_.size() == layers * of_layer;
    const bool input_unasked = c_.backward() && products_.size() + directions_ == layers * of_layer;
    if ((!whole && !input_unasked) || cells_.size() != layers * directions_ * steps_) return false;
    std::vector<double> rows_of(c_.parts.size());
    for (std::size_t k = 0; k < products_.size(); ++k) {
      const std::size_t place = k % of_layer, i = products_[k];
      const bool of_input = c_.backward() ? place >= directions_ * steps_ : place < directions_;
      if (of_input) {
        inputs_.push_back(i);
        continue;
      }
      c_.parts[i].role = KernelRole::step;
      part(i).rows = rows_of[i] = rows_at(c_.backward() ? place : place - directions_);
    }
    for (std::size_t k = 0; k < cells_.size(); ++k) part(cells_[k]).rows = rows_at(k % (directions_ * steps_));
    add_up_splits(rows_of);
    return true;
  }
  void guess_cells() {
    for (const std::size_t i : cells_) {
      part(i).rows = sizes_.rows / sizes_.steps;
      c_.parts[i].guessed = true;
    }
  }
  double rows_at(std::size_t place) const {
    const std::size_t step = place / directions_;
    const bool from_start = (place % directions_ == 0) != c_.backward();
    return sizes_.of_steps[from_start ? step : steps_ - 1 - step];
  }
  // What adds up the parts of a step's product comes right behind it.
  void add_up_splits(const std::vector<double>& rows_of) {
    for (const std::size_t i : splits_) {
      if (i == 0 || rows_of[i - 1] <= 0) continue;
      part(i).rows = rows_of[i - 1];
      const double width = (c_.backward() ? 1 : sizes_.gates) * sizes_.hidden;
      part(i).partial_bytes = split_of(c_.launches[i - 1], 1) * rows_of[i - 1] * width * item_bytes(DType::f32);
    }
  }

  // The inputs' products, one for each cell, the backward ones from the last layer down.
  bool take_cells() {
    const auto cells = static_cast<std::size_t>(sizes_.cells());
    const bool all = inputs_.size() == cells || (!sizes_.of_steps.empty() && inputs_.size() + directions_ == cells);
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      if (c_.backward()) c_.parts[inputs_[k]].role = KernelRole::grad_input;
      if (all) part(inputs_[k]).cell = static_cast<int>(c_.backward() ? cells - 1 - k : k);
    }
    return all;
  }

  // Layers of one direction run side by side, chunk of steps after chunk: equal numbers of products for each. The first layer's
  // differ where it takes another number of features; they come first, backward last.
  void take_chunks() {
    const auto layers = static_cast<std::size_t>(sizes_.layers);
    if (directions_ != 1 || inputs_.empty() || inputs_.size() % layers != 0) return;
    const std::size_t chunks = inputs_.size() / layers;
    const auto first = key(c_.backward() ? inputs_.back() : inputs_.front());
    const auto of_first =
        static_cast<std::size_t>(std::count_if(inputs_.begin(), inputs_.end(), [&](std::size_t i) { return key(i) == first; }));
    if (sizes_.input != sizes_.hidden && of_first != chunks) return;
    for (const std::size_t i : inputs_) {
      part(i).cell = key(i) == first ? 0 : 1;
      part(i).chunks = static_cast<double>(chunks);
    }
  }

  // Weights: of each cell the gradient of the recurrent ones over its first step, then over the others, then that of the
  // input's. Products take several steps only where the states before them have one number of rows; the direction that goes
  // backward starts its new sequences first.
  std::vector<double> rows_of_weights(bool from_end) const {
    if (sizes_.of_steps.empty()) return {sizes_.batch, (sizes_.steps - 1) * sizes_.batch};
    const std::vector<double>& n = sizes_.of_steps;
    std::vector<double> rows = {from_end ? n.back() : n[0]};
    for (std::size_t t = n.size() - 1; from_end && t > 0; --t) {
      if (n[t - 1] > n[t]) rows.push_back(n[t - 1] - n[t]);
    }
    for (std::size_t t = 1; t < n.size(); ++t) {
      if (t == 1 || n[t - 1] != n[t - 2]) rows.push_back(0);
      rows.back() += n[t];
    }
    return rows;
  }
  void take_weights() {
    std::vector<std::vector<double>> rows;
    std::size_t expected = 0;
    for (std::size_t d = 0; d < directions_; ++d) {
      rows.push_back(rows_of_weights(d == 1));
      expected += rows.back().size() + 1;
    }
    for (const std::size_t i : weights_) c_.parts[i].role = KernelRole::grad_weight;
    if (weights_.size() != expected * static_cast<std::size_t>(sizes_.layers)) return;
    std::size_t next = 0;
    for (std::size_t cell = 0; next < weights_.size(); ++cell) {
      const std::vector<double>& of_cell = rows[cell % directions_];
      for (std::size_t k = 0; k <= of_cell.size(); ++k) {
        RecurrentPart& product = part(weights_[next++]);
        product.cell = static_cast<int>(cell);
        product.input_weights = k == of_cell.size();
        if (!product.input_weights) product.rows = of_cell[k];
      }
    }
  }

  void take_sums() {
    const auto cells = static_cast<std::size_t>(sizes_.cells());
    if (sums_.size() * directions_ != cells) return;
    for (std::size_t k = 0; k < sums_.size(); ++k) part(sums_[k]).cell = static_cast<int>(cells - 1 - k * directions_);
  }

  // A thread for each element, until the device is full: then they go on.
  void take_dropout(std::size_t i) {
    const double threads = volume(c_.launches[i].grid) * volume(c_.launches[i].block),
                 all = sizes_.rows * sizes_.hidden * sizes_.directions;
    const bool full = volume(c_.launches[i].grid) >= 8 * c_.context.device.multiprocessors;
    part(i).rows = full || threads <= 0 ? all : std::min(threads, all);
  }

  CallParts& c_;
  const RecurrentSizes& sizes_;
  std::size_t steps_, directions_;
  Launches products_, inputs_, weights_, cells_, sums_, splits_, dropouts_;
};

}  // namespace

// Where the numbers differ from what is expected nothing is claimed.
void assign_recurrent_roles(CallParts& c) {
  const auto sizes = recurrent_sizes(c.call);
  constexpr double kFewestSteps = 3;  // below, products of steps and of layers cannot be told apart
  if (!sizes || sizes->steps < kFewestSteps || sizes->cells() > kMostCells) return;
  RecurrentParts(c, *sizes).assign();
}

}  // namespace ridge
