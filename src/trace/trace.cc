#include "trace/trace.h"

#include "trace/arg_key.h"

namespace ridge {

Trace::Trace() {
  for (const std::string_view key : arg_key_texts()) strings.intern(key);  // at the ids that id_of() promises
}

}  // namespace ridge
