// Changes: what a user may ask "what if" about, as text: kernel:REGEX=0.5x, no-sync, host=0.8x. One row per kind in changes.cc:
// its form, what it means, and the function that changes the times of a StepGraph.
//
// A change tells what it rests on, and how far off it may be: of what it saves, the share that is not certain.
//
// What is chosen by name or by being a launch or a wait is the program's alone: an autotuner goes on trying what it tried.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <ridge/result.h>

#include "facts/scope.h"
#include "predict/replay.h"
#include "predict/step_graph.h"

namespace re2 {
class RE2;
}

namespace ridge {

struct ChangeKind;

// How a time changes: times `factor`, then `add_ns` more; or exactly `set_ns`; or down to a figure that the cost model has.
struct TimeChange {
  enum class To : std::uint8_t { relative, fixed, roof, expected } to = To::relative;
  double factor = 1;
  std::int64_t ns = 0;

  bool by_work() const { return to == To::roof || to == To::expected; }  // what the work tells, not its time
  std::int64_t of(std::int64_t time_ns) const;                           // not by_work()
};

struct Change {
  std::string text;  // as given
  const ChangeKind* kind = nullptr;
  std::shared_ptr<const re2::RE2> pattern;  // null: all
  TimeChange time;
  std::string value;  // of those that take a name
};

// What a change did to the times.
struct ChangeEffect {
  std::int64_t matches = 0;    // things that it changed
  std::string basis = {};      // what it rests on; what it cannot tell
  double uncertain = 0;        // share of what it saves that may be missing, or come on top
  bool unknown = false;        // the trace does not tell what it would bring: `basis` says why
  std::int64_t compilers = 0;  // what its pattern matches too, but is the compiler's: left as it is, see model/compiler_work.h
};

struct ChangeContext {
  const Scope& scope;
  const StepGraph& graph;
};

struct ChangeKind {
  std::string_view name;  // before the colon or the equals sign
  std::string_view form;  // "kernel:REGEX=TIME"
  std::string_view meaning;
  bool takes_pattern = false;
  bool needs_pattern = false;
  enum class Value : std::uint8_t { none, time, factor, name } value = Value::none;
  Result<void> (*check)(std::string_view value) = nullptr;  // of `value`; null: nothing to check
  ChangeEffect (*apply)(const Change& change, const ChangeContext& context, StepTimes* times) = nullptr;
};

std::span<const ChangeKind> change_kinds();

// An error says what is wrong and lists the forms.
Result<Change> parse_change(std::string_view text);

}  // namespace ridge
