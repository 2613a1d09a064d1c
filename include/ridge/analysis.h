// What an analysis is to a client: its name, one line, and its parameters as data. Help, completion, HTTP and bindings derive
// from it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <ridge/report.h>

namespace ridge {

// What a value of a parameter changes, and so what has to be made anew for another one.
enum class Changes : std::uint8_t {
  answer,  // nothing but the answer of its analysis
  scope,   // which part of the trace is looked at
  model,   // what the trace is taken for: iterations
  costs,   // FLOPs, bytes and roofs
};

struct Parameter {
  std::string_view name;  // "strict": the flag is --strict
  Type type;              // boolean: a switch
  std::string_view description;
  bool names_file = false;  // its value is a path: for the command line, not for clients that come over a network
  bool repeats = false;     // may be given several times: a list (argument_list.h)
  Changes changes = Changes::answer;
};

struct AnalysisInfo {
  std::string_view name;
  std::string_view description;  // one line
  std::span<const Parameter> parameters;
  std::string_view operand = {};  // the parameter that a command line takes before the traces, without its flag; empty: none
  bool needs_trace = true;
  std::size_t fewest_traces = 1;  // more than one: it compares the traces it is given
  bool tells_places = false;      // of events in the file: where OpenOptions::keep_places was asked for
  bool trace_optional = false;    // it also answers without a trace, from what its own parameters give
  bool whole_job = false;         // takes all traces of a job, or their digests: see OpenOptions::digests_only
};

using Arguments = std::map<std::string, std::string, std::less<>>;  // parameter name -> text; a switch is "true"

}  // namespace ridge
