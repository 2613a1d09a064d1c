// Scope: what an analysis works on: which trace, which part of its time, which iterations, which device, which names.
// Every analysis takes one, so that the flags which narrow it are read once (make_scope).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <ridge/analysis.h>
#include <ridge/result.h>

#include "cost/cost_model.h"
#include "model/idle.h"
#include "model/model.h"
#include "model/retained.h"
#include "trace/trace.h"

namespace re2 {
class RE2;
}

namespace ridge {

class Scope {
 public:
  // The whole of a trace. Without `costs`, they are made with default options.
  explicit Scope(const Model& model, std::shared_ptr<const CostModel> costs = nullptr);

  const Model& model() const { return *model_; }
  const Trace& trace() const { return model_->trace(); }
  const CostModel& costs() const { return *costs_; }
  // split_idle() over the window, computed when first asked for and kept until it is let go, for all copies of this scope. Who
  // needs it holds it. Thread-safe.
  std::shared_ptr<const std::vector<DeviceIdle>> idle() const;
  void let_go_of_idle() const { idle_->let_go(); }

  // The window of time, narrowed by --step, --from and --to. Empty (0, 0) when the trace has no window.
  // With --step it is that of the device: it ends when the work of the step is done, and starts when that of the steps before
  // it is.
  TimeRange window() const { return window_; }
  // The same on the host: what starts in it is in the scope. It differs from the window where the host runs ahead of the
  // device.
  TimeRange host_window() const { return host_; }
  // With --step in a trace of several ranks each has marks of its own for the same steps.
  TimeRange host_window(TrackId track) const { return host_of_track_.empty() ? host_ : host_of_track_[track.value]; }
  bool whole() const { return !steps_ && !by_time_; }
  bool by_time() const { return by_time_; }              // --from or --to
  bool narrowed() const { return !whole() || device_; }  // but for --filter
  // What times that are shown count from, and --from and --to: the start of the trace's window, however narrow this one is.
  std::int64_t origin_ns() const { return trace().window.value_or(TimeRange{}).start_ns; }

  // Iterations inside the scope, by index into model().iterations().list.
  std::vector<std::size_t> iterations() const;

  // For what is told per iteration: with --from or --to the iterations that lie wholly inside, as --step would have them; where
  // none does, or neither is given, the same scope.
  Scope of_whole_iterations() const;

  bool has_device(std::int64_t id) const { return !device_ || *device_ == id; }
  bool filtered() const { return filter_ != nullptr; }
  Scope unfiltered() const;              // the same without --filter
  std::string_view filter_text() const;  // as given; empty without --filter
  // --filter, for the names that an analysis lists.
  bool matches(std::string_view name) const;

  // A slice of a host thread: it starts in the host's window.
  bool holds(NodeId node) const;
  // Device work by row of trace.of(device_work), whatever its device: with --step by the iteration that holds its launch (its
  // own start when the launch is not recorded; none when it was queued before the recording), with --from and --to by its
  // start.
  bool holds_work(std::size_t row) const;

 private:
  friend Result<Scope> make_scope(const Model& model, const Arguments& arguments, std::shared_ptr<const CostModel> costs);

  void narrow_to(std::pair<std::size_t, std::size_t> steps);  // of a whole trace

  const Model* model_;
  std::shared_ptr<const CostModel> costs_;
  std::shared_ptr<Retained<std::vector<DeviceIdle>>> idle_;
  TimeRange window_;
  TimeRange host_;
  std::vector<TimeRange> host_of_track_ = {};  // empty: host_ for all
  bool by_time_ = false;
  std::optional<std::pair<std::size_t, std::size_t>> steps_;  // indexes of the first and the last iteration
  std::optional<std::int64_t> device_;
  std::shared_ptr<const re2::RE2> filter_;
};

// From the arguments of that name; an error that says what is wrong with one.
Result<Scope> make_scope(const Model& model, const Arguments& arguments, std::shared_ptr<const CostModel> costs = nullptr);

// --runs, which the model needs before there is a scope; 0 when not given.
Result<std::int64_t> runs_argument(const Arguments& arguments);

}  // namespace ridge
