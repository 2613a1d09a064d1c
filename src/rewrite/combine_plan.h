// How the numbers of each input become numbers of the combined trace: ids move up by a constant, devices and processes get free
// numbers, times move to one clock. The first input keeps everything as it is, unless its clock is not the earliest.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ridge/result.h>

#include "job/clocks.h"
#include "rewrite/combine_facts.h"

namespace ridge {

struct InputPlan {
  std::array<std::int64_t, kIdSpaces> add{};  // to ids of each space
  std::map<std::int64_t, std::int64_t> devices;
  std::map<Pid, Pid> pids;
  std::int64_t add_ns = 0;  // to times
  int number = 1;           // of the input, from 1: told apart by it where only a text can

  std::int64_t device(std::int64_t id) const {
    const auto found = devices.find(id);
    return found == devices.end() ? id : found->second;
  }
};

struct CombinePlan {
  std::vector<InputPlan> inputs;
  AlignedClocks clocks;
};

Result<CombinePlan> plan_combination(const std::vector<InputFacts>& inputs);

// The metadata of the result.
RawMembers combined_metadata(const std::vector<InputFacts>& inputs, const CombinePlan& plan);

}  // namespace ridge
