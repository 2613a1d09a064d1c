// From the model of a rank's trace to its digest. One pass over the device's work in the order in which it was issued.
#pragma once

#include "job/digest.h"
#include "model/model.h"

namespace ridge {

Digest make_digest(const Model& model);

}  // namespace ridge
