# RIDGE_SANITIZER_ENVIRONMENT: how tests run under sanitizers; _OF_MANY: those that start many processes.
# The leak check needs ptrace, which some containers forbid: asked once, here.
if(NOT DEFINED RIDGE_LEAK_CHECK_WORKS)
  file(WRITE "${CMAKE_BINARY_DIR}/leak_probe.cc" "int main() { return 0; }\n")
  try_run(probe_exit probe_built "${CMAKE_BINARY_DIR}/leak_probe" "${CMAKE_BINARY_DIR}/leak_probe.cc"
    COMPILE_DEFINITIONS -fsanitize=address LINK_OPTIONS -fsanitize=address)
  if(probe_built AND probe_exit STREQUAL "0")
    set(RIDGE_LEAK_CHECK_WORKS 1 CACHE INTERNAL "")
  else()
    set(RIDGE_LEAK_CHECK_WORKS 0 CACHE INTERNAL "")
    message(STATUS "The leak check does not run here; tests go without it")
  endif()
endif()

# On arm64 two of gcc 12's checks take so long that minutes become an hour: frames kept behind a return are not given back, and every call searches
# them; and the leak check takes 4 s a process, so that suites that start many go without it. The unit tests keep it.
set(stack_use_after_return 1)
set(leak_check_of_many ${RIDGE_LEAK_CHECK_WORKS})
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(stack_use_after_return 0)
  set(leak_check_of_many 0)
endif()

set(options "strict_string_checks=1:detect_stack_use_after_return=${stack_use_after_return}:allocator_may_return_null=1")
set(RIDGE_SANITIZER_ENVIRONMENT
  "ASAN_OPTIONS=detect_leaks=${RIDGE_LEAK_CHECK_WORKS}:${options}" "UBSAN_OPTIONS=print_stacktrace=1")
set(RIDGE_SANITIZER_ENVIRONMENT_OF_MANY
  "ASAN_OPTIONS=detect_leaks=${leak_check_of_many}:${options}" "UBSAN_OPTIONS=print_stacktrace=1")
