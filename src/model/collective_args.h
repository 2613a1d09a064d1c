// CollectiveArgs: what a trace says of the collective that a communication kernel belongs to: its name, group and type, and how
// many bytes a rank gives and gets.
//
// From the arguments that the profiler writes on kernels and on record_param_comms, else from the shapes of the c10d:: call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>

#include "model/model.h"
#include "trace/tables.h"

namespace ridge {

struct CollectiveArgs {
  std::string name, group, dtype;
  std::string process_group;             // its name, where `group` is what it is for
  std::string members;                   // of the group: as the trace lists them, cut short where they are many
  std::optional<std::int64_t> sequence;  // counts the collectives of the group
  std::optional<std::int64_t> source_rank, destination_rank;  // of a send or a receive
  std::optional<std::int64_t> ranks;
  // Of the call. Of several kernels of one call the first has them, the others 0.
  std::optional<std::int64_t> given_bytes, got_bytes;

  // The size that nccl-tests calls S: the larger of the two.
  std::optional<std::int64_t> bytes() const;
};

class CollectiveReader {
 public:
  explicit CollectiveReader(const Model& model);

  // Of the device work of a row, each row once. Where nothing is said, the name is the kernel's label.
  CollectiveArgs read(std::size_t row);

 private:
  // The events that tell of a collective's call, innermost first; kNoEvent where there is none.
  struct CallEvents {
    EventId comms = kNoEvent;       // with the collective's arguments: the kernel itself, or record_param_comms
    EventId annotation = kNoEvent;  // nccl:all_reduce
    EventId call = kNoEvent;        // c10d::allreduce_
  };
  CallEvents events_of(std::size_t row, EventId event) const;
  void read_tensors(const CallEvents& events, CollectiveArgs* args);
  void add_bytes(std::optional<std::int64_t> given, std::optional<std::int64_t> got, EventId source, bool of_kernel,
                 CollectiveArgs* args);
  std::string_view name_of_event(EventId event) const;
  std::string text(const ArgColumn& column, EventId event) const;

  const Model& model_;
  CollectiveTable table_;
  OpTable ops_;
  std::unordered_set<std::uint32_t> seen_;  // events whose bytes were counted
};

}  // namespace ridge
