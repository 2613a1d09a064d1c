// torchvision's ops of object detection: boxes against boxes, and windows of feature maps that boxes name.
#include <algorithm>
#include <cmath>

#include "ops/operands.h"

namespace ridge {
namespace {

// (boxes [n, 4], scores, threshold): every box against every other, a bit for each pair in words of 64; then one block goes
// over the boxes from the best to the worst and takes of the words, right of the diagonal, those of the boxes that are left.
OpWork nms(const OpCall& c, const Part& p) {
  const TensorShape* boxes = tensor_at(c, 0);
  if (boxes == nullptr || boxes->sizes.empty()) return {.flops = 0};
  const double n = static_cast<double>(boxes->sizes[0]), words = n * std::ceil(n / 64) / 2 * item_bytes(DType::i64);
  if (p.role == KernelRole::combine) {
    OpWork work = moves(words, n, boxes->dtype);
    work.ambiguous = true;
    return work;
  }
  return moves(dense_bytes(boxes), words, boxes->dtype);
}

// What `boxes` windows of `height` x `width` cells touch at most: four elements for each of the points of a cell, each with a
// sector of its own, of every channel; but no more than the map.
double sampled(double map_bytes, double boxes, double cells, double points, double channels) {
  constexpr double kSector = 32;
  return std::min(map_bytes, boxes * cells * points * 4 * channels * kSector);
}
double points_of(double ratio) { return ratio > 0 ? ratio * ratio : 4; }  // not told: it follows the size of the box

// (x [n, c, h, w], boxes [k, 5], scale, height, width, ratio, aligned)
OpWork roi_align(const OpCall& c, const Part&) {
  const TensorShape* x = tensor_at(c, 0);
  const TensorShape* boxes = tensor_at(c, 1);
  if (x == nullptr || boxes == nullptr || x->sizes.size() != 4 || boxes->sizes.empty()) return {.flops = 0};
  const double k = static_cast<double>(boxes->sizes[0]), channels = static_cast<double>(x->sizes[1]);
  const double cells = number_at(c, 3).value_or(0) * number_at(c, 4).value_or(0);
  const double read = sampled(dense_bytes(x).value_or(0), k, cells, points_of(number_at(c, 5).value_or(0)), channels);
  OpWork work = moves(read + touched_bytes(*boxes), k * cells * channels * item_bytes(x->dtype), x->dtype);
  work.ambiguous = true;  // where the boxes lie is not told
  return work;
}

// (grad [k, c, height, width], boxes, scale, height, width, n, c, h, w, ratio, aligned): added to the map with atomics, which
// read it.
OpWork roi_align_backward(const OpCall& c, const Part&) {
  const TensorShape* grad = tensor_at(c, 0);
  const TensorShape* boxes = tensor_at(c, 1);
  if (grad == nullptr || boxes == nullptr || boxes->sizes.empty()) return {.flops = 0};
  double map = item_bytes(grad->dtype);
  for (std::size_t i = 5; i < 9; ++i) map *= std::max(number_at(c, i).value_or(0), 0.0);
  const double cells = number_at(c, 3).value_or(0) * number_at(c, 4).value_or(0);
  const double target = sampled(map, static_cast<double>(boxes->sizes[0]), cells, points_of(number_at(c, 9).value_or(0)),
                                number_at(c, 6).value_or(0));
  OpWork work = moves(plus(dense_bytes(grad), touched_bytes(*boxes) + target), target, grad->dtype);
  work.ambiguous = true;
  return work;
}

constexpr OpFormula kRows[] = {
    {"torchvision::nms", OpFamily::sort, nms},
    {"torchvision::roi_align", OpFamily::pooling, roi_align},
    {"torchvision::_roi_align_backward", OpFamily::pooling, roi_align_backward},
};

}  // namespace

std::span<const OpFormula> detection_ops() { return kRows; }

}  // namespace ridge
