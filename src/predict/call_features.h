// What decides how long a call takes, as numbers: sizes as powers of two, layouts and types as codes. The table of expected
// times (expected_table.h) is asked by them, whether the call comes from a trace or from a line of --ops. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "ops/op_call.h"
#include "ops/op_work.h"

namespace ridge {

struct CallFeatures {
  std::string_view kind;        // which part of the table: "product", "pointwise", ...; empty: no such ops were measured
  std::string op;               // its name there, without namespace, overload and the mark of an in-place form
  std::vector<float> values;    // the kind's own, see call_features.cc
  OpWork work;                  // of the whole call
  DType unit = DType::unknown;  // in which it computes, TF32 told from float32
  bool matrix = false;
  double reached = 1;       // the share of the peak that kernels of this sort reach at all
  double serial_ns = 0;     // what one thread or block does step by step, however wide the device is
  double tensor_bytes = 0;  // of the tensors that are given, where the formula does not tell what is read
  double turned_bytes = 0;  // what is moved to turn the tensors into the layout that the kernel wants, and back
  // Where the time of a call is the sum of pieces of work that are predicted one by one. The call's own values then only say
  // which calls are near it.
  std::vector<CallFeatures> parts;
  // The same over less: none of them takes longer. Where kernels change with the size, what was learned on either side of the
  // change does not know of the other.
  std::vector<CallFeatures> lesser;
  std::string_view role;  // of a part: "forward", "input", "weight", "bias", "turned"
};

// `multiprocessors`: of the device that is asked about. `tf32`: float32 products are done by TF32 units.
// `whole`: with what the op leaves to ops that it calls, which are calls of their own in a trace.
CallFeatures features_of_call(const OpCall& call, bool tf32, double multiprocessors, bool whole = true);

// Of a kernel that Inductor generated: `kind` by its name, the rest by its cost.
struct GeneratedKernel {
  std::string_view kind;  // "triton_pointwise", "triton_reduction", "triton_persistent_reduction"
  double bytes_read = 0, bytes_written = 0, flops = 0, blocks = 0, threads = 0;
  DType dtype = DType::unknown;
};
CallFeatures features_of_kernel(const GeneratedKernel& kernel, double multiprocessors);

// The least time that the peaks allow for this work, and a launch: what the table's figures are factors of.
struct BaseTime {
  double compute_ns = 0, memory_ns = 0, serial_ns = 0;
  double turned_ns = 0;  // before and behind all of them
  double ns() const;
};
// Nothing where the device has no figure for it.
std::optional<BaseTime> base_time(const CallFeatures& call, const DeviceSpec& device);

// Powers of two of sizes; 0 for what is below one.
float log_size(double size);

// The features of each family, behind those that all have.
namespace features {
void begin_features(CallFeatures* out);  // those that all have
void product(const OpCall& call, const OpFormula& row, double multiprocessors, CallFeatures* out);
void convolution(const OpCall& call, const OpFormula& row, bool tf32, bool whole, double multiprocessors, CallFeatures* out);
void attention(const OpCall& call, const OpFormula& row, double multiprocessors, CallFeatures* out);
void general(const OpCall& call, std::string_view op, double multiprocessors, CallFeatures* out);
// Of how many blocks of a size the work is made, by the device's units, and how full the last round is.
void waves(double blocks, double multiprocessors, CallFeatures* out);
// The time of the arithmetic when it is cut into so many equal tiles, of which each unit does one after the other.
void tiled(double tiles, double multiprocessors, CallFeatures* out);
}  // namespace features

}  // namespace ridge
