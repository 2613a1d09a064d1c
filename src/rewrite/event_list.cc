// Head and tail of the file; metadata that is not valid JSON is left out.
#include "rewrite/event_list.h"

#include "ingest/json_text.h"

namespace ridge {

bool is_valid_json(std::string_view raw) {
  std::string compact;
  return compact_json(raw, &compact);
}

std::string trace_head(const RawMembers& members) {
  std::string head = "{\n";
  for (const auto& [key, value] : members) {
    const std::string quoted = "\"" + key + "\"";
    if (key == "traceEvents" || !is_valid_json(quoted) || !is_valid_json(value)) continue;
    head += "  " + quoted + ": " + value + ",\n";
  }
  return head + "  \"traceEvents\": [";
}

std::string trace_tail() { return "\n  ]\n}\n"; }

}  // namespace ridge
