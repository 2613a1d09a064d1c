// The tables that Perfetto's users know, made of a trace: slice, thread, process, track, thread_track, process_track, args,
// flow, counter, counter_track. Ids differ from Perfetto's: a slice has the number of its event, a track that of `tracks`.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/flat_args.h"
#include "sql/relation.h"
#include "sql/slices.h"
#include "trace/trace.h"

namespace ridge::sql {

// What the tables share, each part made when first asked for. One thread at a time.
class PerfettoState {
 public:
  explicit PerfettoState(const Trace& of) : trace(of), processes(of) {}

  const Trace& trace;
  const ProcessTracks processes;

  const std::vector<EventId>& slices() const;
  const std::vector<std::uint32_t>& slice_tracks() const;
  const Nesting& nesting() const;
  FlatArgs& flat_args() const;

  // A curve of a counter: its process, its name and the argument that it is of.
  struct Curve {
    std::uint32_t process;
    std::string name;
  };
  struct Sample {
    EventId event;
    std::uint32_t curve;
    double value;
  };
  const std::vector<Curve>& curves() const;
  const std::vector<Sample>& samples() const;

 private:
  void read_counters() const;

  mutable std::optional<std::vector<EventId>> slices_;
  mutable std::optional<std::vector<std::uint32_t>> slice_tracks_;
  mutable std::optional<Nesting> nesting_;
  mutable std::optional<FlatArgs> flat_args_;
  mutable std::optional<std::vector<Curve>> curves_;
  mutable std::vector<Sample> samples_;
};

struct PerfettoTable {
  std::string_view name;
  std::string_view line;
  std::unique_ptr<Relation> (*make)(const PerfettoState& state);
};

std::span<const PerfettoTable> perfetto_tables();

// Each in its file.
std::unique_ptr<Relation> make_slice_table(const PerfettoState& state);
std::unique_ptr<Relation> make_flow_table(const PerfettoState& state);
std::unique_ptr<Relation> make_args_table(const PerfettoState& state);

}  // namespace ridge::sql
