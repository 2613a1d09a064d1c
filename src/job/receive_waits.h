// Waits for receives that the recording does not show.
#pragma once

#include "job/job.h"

namespace ridge {

// What a stage computes, it computes from what it receives, but a lane shows a wait only where it had to: a receive that had
// come before held nothing up. Replayed without its wait, a stage that is let go earlier would run ahead of its data. Where
// ranks, as often as they are seen to wait for a receive, do so before their next work, they do it always.
//
// Whether waits were added: not where the job as recorded would then come out another.
bool add_receive_waits(Job* job);

}  // namespace ridge
