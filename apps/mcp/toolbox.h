// Toolbox: runs a tool. It reads traces and writes nothing; what it opens, Access allows.
#pragma once

#include <string>
#include <string_view>

#include <ridge/analysis.h>

#include "access.h"
#include "call.h"
#include "engines.h"
#include "json_value.h"
#include "tool_arguments.h"
#include "tool_table.h"

namespace ridge::mcp {

class Toolbox {
 public:
  // `defaults`: what every question is asked with, as the user gave it when the server was started.
  Toolbox(const Access& access, OpenOptions options, Arguments defaults)
      : access_(access), engines_(std::move(options)), defaults_(std::move(defaults)) {}

  // The members of the tool's result. `structured`: the client knows structuredContent.
  std::string call(const Tool& tool, const JsonValue* arguments, bool structured, Call& call);

 private:
  struct Opened {
    std::shared_ptr<const Engine> engine;
    std::string command_traces;  // as a command line names them, captures too
  };

  Result<std::string> run(const Tool& tool, const ToolArguments& given, bool structured, Call& call);
  Result<std::string> open_or_list(const Tool& tool, const ToolArguments& given, bool structured, Call& call);
  Result<std::string> analyse(const Tool& tool, const ToolArguments& given, bool structured, Call& call);
  Result<std::string> timeline_url(const ToolArguments& given) const;

  Result<std::vector<OpenTrace>> traces_of(const Tool& tool, const ToolArguments& given) const;
  Result<Opened> opened(const Tool& tool, const ToolArguments& given, Call& call);
  // Those of the analysis: the user's defaults, then what the call gives.
  Arguments arguments_for(const AnalysisInfo& info, const Arguments& own) const;

  const Access& access_;
  Engines engines_;
  const Arguments defaults_;
};

}  // namespace ridge::mcp
