#include "analysis/catalog.h"

namespace ridge {
namespace {

constexpr Parameter kCheckParameters[] = {
    {"strict", Type::boolean, "exit with 3 when a problem of severity error was found"},
};

constexpr AnalysisRow kRows[] = {
    {{"info", "what the trace is: producer, devices, options, events by category, tracks", {}}, run_info},
    {{"check", "what is wrong with the file: damage survived, odd events, where", kCheckParameters}, run_check},
};

}  // namespace

std::span<const AnalysisRow> catalog() { return kRows; }

}  // namespace ridge
