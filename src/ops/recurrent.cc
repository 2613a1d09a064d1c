// Recurrent networks in one library call (cuDNN): a product over all time steps with the input's weights, then for each step a
// product with the recurrent weights and a pointwise cell. Backward: the steps, the input's gradients, and the weights'
// gradients, which are added to. PyTorch counts no FLOPs for them, so none are claimed. Sizes confirmed by counters of an H200
// (LSTM of two layers and directions, packed and not, GRU). Packed sequences are one matrix of rows, those of a step beside
// each other, and each step takes the sequences that reach it.
#include "ops/recurrent.h"

#include <algorithm>
#include <numeric>

#include "ops/operands.h"

namespace ridge {
namespace {

// aten::_cudnn_rnn (x, weights, stride, buffer, hx, cx, mode, hidden, projection, layers, batch_first, dropout, train,
// bidirectional, ..); its backward has four tensors more before the mode.
std::size_t mode_position(const OpCall& call) { return call.op.find("backward") != std::string_view::npos ? 10 : 6; }

// x [sequences, steps, features], or steps first.
bool read_padded(const TensorShape& x, bool batch_first, RecurrentSizes* s) {
  if (x.sizes.size() != 3) return false;
  s->batch = static_cast<double>(x.sizes[batch_first ? 0 : 1]);
  s->steps = static_cast<double>(x.sizes[batch_first ? 1 : 0]);
  s->rows = s->batch * s->steps;
  s->input = static_cast<double>(x.sizes[2]);
  return true;
}

// x [rows, features], with the sequences of each step in a list.
bool read_packed(const OpCall& call, const TensorShape& x, std::size_t list, RecurrentSizes* s) {
  const auto sequences = integers_at(call, list);
  if (!sequences || sequences->empty() || sequences->back() <= 0) return false;
  if (!std::is_sorted(sequences->rbegin(), sequences->rend())) return false;
  s->of_steps.assign(sequences->begin(), sequences->end());
  s->batch = s->of_steps[0];
  s->steps = static_cast<double>(s->of_steps.size());
  s->rows = std::accumulate(s->of_steps.begin(), s->of_steps.end(), 0.0);
  s->input = static_cast<double>(x.sizes[1]);
  return s->rows == static_cast<double>(x.sizes[0]);
}

struct Bytes {
  double state, gates, all_gates, inputs, recurrent_weights, input_weights;
};

OpWork work_of(const OpCall& call, const Part& whole_part) {
  const KernelRole role = whole_part.role;
  const RecurrentPart part = whole_part.as<RecurrentPart>();
  const TensorShape* x = tensor_at(call, 0);
  const auto s = recurrent_sizes(call);
  OpWork work;
  if (x == nullptr) return work;
  work.dtype = x->dtype;
  if (!s) return work;
  const double item = item_bytes(x->dtype);
  const bool backward = mode_position(call) == 10;
  const double features = s->input_of(static_cast<double>(std::max(part.cell, 0)));
  const double rows = part.rows > 0 ? part.rows : s->batch;  // of this launch
  const Bytes b{.state = rows * s->hidden * item,
                .gates = s->gates * rows * s->hidden * item,
                .all_gates = s->gates * s->rows / part.chunks * s->hidden * item,
                .inputs = s->rows / part.chunks * features * item,
                .recurrent_weights = s->gates * s->hidden * s->hidden * item,
                .input_weights = s->gates * s->hidden * features * item};
  const auto moved = [&](std::optional<double> read, std::optional<double> written) {
    work.read = read;
    work.written = written;
    return work;
  };
  switch (role) {
    case KernelRole::step:
      return backward ? moved(b.recurrent_weights + b.gates, b.state) : moved(b.recurrent_weights + b.state, b.gates);
    case KernelRole::apply: {  // gates of the input and of the state, the state before; backward: gates, and gradients and
                               // states
      const double states = s->gates == 4 ? 5 : s->gates == 3 ? 4 : 2;
      work.ambiguous = s->gates == 1;
      work.read =
          backward ? b.gates + states * b.state : 2 * b.gates + (s->gates > 1 ? b.state : 0) + 2 * s->gates * s->hidden * item;
      return work;
    }
    // The two biases of a GRU have gradients that differ.
    case KernelRole::statistics: return moved(b.all_gates * (s->gates == 3 ? 2 : 1), 0);
    case KernelRole::combine:
      if (part.partial_bytes > 0) return moved(part.partial_bytes, b.gates);  // the parts of a split product
      return moved(2 * b.inputs, b.inputs);                                   // both directions' gradients of one input
    case KernelRole::bias: {  // dropout between layers: the mask has a bit for each element
      const double elements = part.rows > 0 ? part.rows : s->rows * s->hidden * s->directions;
      return moved(elements * item + elements / 8, elements * item);
    }
    case KernelRole::initialise:
      return moved(touched(tensor_at(call, backward ? 19 : 15)), std::nullopt);  // the generator's states
    default: break;
  }
  if (part.cell < 0) return work;  // a kernel whose part is not known
  switch (role) {
    case KernelRole::main: return moved(b.inputs + b.input_weights, b.all_gates);
    case KernelRole::grad_input: return moved(b.all_gates + b.input_weights, b.inputs);
    case KernelRole::grad_weight:
      if (part.input_weights) return moved(b.all_gates + b.inputs + b.input_weights, b.input_weights);
      return moved(b.gates + b.state + b.recurrent_weights, b.recurrent_weights);
    default: return work;
  }
}

constexpr OpFormula kRows[] = {
    {"aten::_cudnn_rnn", OpFamily::recurrent, work_of},
    {"aten::_cudnn_rnn_backward", OpFamily::recurrent, work_of},
};

}  // namespace

std::optional<RecurrentSizes> recurrent_sizes(const OpCall& call) {
  const TensorShape* x = tensor_at(call, 0);
  const std::size_t at = mode_position(call);
  const auto mode = number_at(call, at), hidden = number_at(call, at + 1), projection = number_at(call, at + 2),
             layers = number_at(call, at + 3);
  if (x == nullptr || x->dtype == DType::unknown || !mode || !hidden || !layers) return std::nullopt;
  if (projection.value_or(0) > 0 || *hidden <= 0 || *layers <= 0) return std::nullopt;
  RecurrentSizes s;
  if (!(x->sizes.size() == 2 ? read_packed(call, *x, at + 8, &s) : read_padded(*x, flag_at(call, at + 4), &s))) {
    return std::nullopt;
  }
  s.hidden = *hidden;
  s.gates = *mode == 2 ? 4 : *mode == 3 ? 3 : 1;
  s.layers = *layers;
  s.directions = flag_at(call, at + 7) ? 2 : 1;
  return s;
}

std::span<const OpFormula> recurrent_ops() { return kRows; }

}  // namespace ridge
