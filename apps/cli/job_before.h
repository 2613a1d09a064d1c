// --before of serve and report: the job as it was, for a page that tells what changed since.
#pragma once

#include <ridge/engine.h>
#include <ridge/result.h>

#include "server/site.h"

namespace ridge::cli {

inline constexpr Parameter kBeforeParameter = {"before", Type::text,
                                               "folder or digests of the job as it was: a page tells what changed since", true};

// Nothing where none is given. The traces of the other job are read one at a time and let go.
Result<void> read_before(const Engine& job, const Arguments& arguments, server::ShownBeside* beside);

}  // namespace ridge::cli
