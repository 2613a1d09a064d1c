# ridge_options: warnings and sanitizers, for every target of the project. No -march: binaries run on any machine of their
# architecture; code that wants more asks at run time.
add_library(ridge_options INTERFACE)

target_compile_options(ridge_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wcast-qual -Wnon-virtual-dtor
  -Woverloaded-virtual -Wformat=2 -Wimplicit-fallthrough -Wextra-semi -Wunused -Wundef)

# A product and a sum are rounded each, as on machines without a fused operation: every machine then prints the same digits.
target_compile_options(ridge_options INTERFACE -ffp-contract=off)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -Wrestrict misfires inside std::string of gcc 12 (GCC bug 105651), -Wmaybe-uninitialized inside std::variant at -O3. -Wpsabi tells on arm64
  # that gcc 10 passed some arguments otherwise, which matters to nobody who compiles all with one compiler.
  target_compile_options(ridge_options INTERFACE
    -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wno-restrict -Wno-maybe-uninitialized -Wno-psabi)
  if(RIDGE_WERROR)
    target_compile_options(ridge_options INTERFACE -Werror)
  endif()
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 calls what it has itself deprecated (std::get_temporary_buffer, in stable sorts); gcc is silent about it, and tells of our own calls.
  target_compile_options(ridge_options INTERFACE -Wno-deprecated-declarations)
endif()

if(RIDGE_SANITIZE)
  target_compile_options(ridge_options INTERFACE
    -fsanitize=${RIDGE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ridge_options INTERFACE -fsanitize=${RIDGE_SANITIZE})
  target_compile_definitions(ridge_options INTERFACE RIDGE_COUNT_WORK)  # src/base/work_count.h
  if(RIDGE_SANITIZE MATCHES "address")  # gcc and clang tell it each in its own way
    target_compile_definitions(ridge_options INTERFACE RIDGE_ADDRESS_SANITIZER)
  endif()
  # With instrumentation gcc's flow analysis reports values that are in fact set.
  target_compile_options(ridge_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

find_program(RIDGE_CCACHE ccache)
if(RIDGE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The precompiled header of the tests is cached only by a ccache that is told not to look at dates and definitions in it.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${RIDGE_CCACHE}")
endif()
