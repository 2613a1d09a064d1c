// What newer libstdc++ has under a newer version of the same name: std::condition_variable::wait, GLIBCXX_3.4.30 since gcc 12.
// The linker puts this in its place (--wrap in python/CMakeLists.txt), so that the module also runs on systems with glibc 2.34
// and gcc 11.
#include <condition_variable>
#include <mutex>

#include <pthread.h>

extern "C" void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(  // NOLINT: the linker's name for it
    std::condition_variable* self, std::unique_lock<std::mutex>& lock);

void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(  // NOLINT
    std::condition_variable* self, std::unique_lock<std::mutex>& lock) {
  ::pthread_cond_wait(self->native_handle(), lock.mutex()->native_handle());
}
