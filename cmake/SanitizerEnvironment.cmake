# RIDGE_SANITIZER_ENVIRONMENT: how tests run under sanitizers.
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

set(RIDGE_SANITIZER_ENVIRONMENT
  "ASAN_OPTIONS=detect_leaks=${RIDGE_LEAK_CHECK_WORKS}:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1"
  "UBSAN_OPTIONS=print_stacktrace=1")
