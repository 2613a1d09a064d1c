// The public side of base/stop.h: whom a client's thread works for is kept apart until the engine takes it up.
#include <ridge/stop.h>

#include "base/stop.h"

namespace ridge {
namespace {

thread_local const std::atomic<bool>* client_flag = nullptr;

}  // namespace

StopWhen::StopWhen(const std::atomic<bool>& flag) : before_(client_flag) { client_flag = &flag; }
StopWhen::~StopWhen() { client_flag = before_; }
bool StopWhen::asked() { return client_flag != nullptr && client_flag->load(std::memory_order_relaxed); }

const std::atomic<bool>* Stop::given_by_client() { return client_flag; }

}  // namespace ridge
