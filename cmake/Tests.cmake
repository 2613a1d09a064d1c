# The list of tests. Each ctest entry is a suite of many cases that ends with a line of counts; tools/run_tests adds them up.
# Suites run from the repository's root.

# What tests the code is compiled fast rather than well; the code itself is not touched by this.
set(ridge_test_flags -O0)

# ridge_add_gtest(suite binary sources libraries...): one GoogleTest binary, run in two shards so that two cores share it.
function(ridge_add_gtest suite binary sources)
  if(NOT sources)
    return()
  endif()
  add_executable(${binary} ${sources})
  target_include_directories(${binary} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_compile_options(${binary} PRIVATE ${ridge_test_flags})
  target_link_libraries(${binary} PRIVATE ridge_core fmt::fmt isal::isal zstd::zstd Threads::Threads GTest::gtest_main ${ARGN})
  ridge_join(tests ${binary})
  # To clang a precompiled header is worth a third of the time that many tests take, to gcc next to nothing.
  list(LENGTH sources count)
  if(count GREATER ridge_batch_tests AND "tests" IN_LIST RIDGE_JOIN AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_precompile_headers(${binary} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/precompiled.h")
    target_compile_options(${binary} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")  # as ccache wants it
  endif()
  foreach(shard 0 1)
    add_test(NAME ${suite}_${shard} COMMAND ${binary} --gtest_brief=1 --gtest_output=xml:${CMAKE_BINARY_DIR}/results/${suite}_${shard}.xml
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${suite}_${shard} PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

function(ridge_add_script name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()

if(RIDGE_TESTS)
  find_package(GTest REQUIRED)

  find_package(Python3 REQUIRED COMPONENTS Interpreter)

  file(GLOB support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cc")
  file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/*_test.cc")
  file(GLOB differential_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/differential/*_test.cc")
  add_library(ridge_test_support OBJECT ${support_sources})
  target_include_directories(ridge_test_support PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  # Only here, so that a test compiles to the same object in every checkout.
  target_compile_definitions(ridge_test_support PRIVATE RIDGE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(ridge_test_support PRIVATE ridge_core isal::isal zstd::zstd GTest::gtest)
  target_compile_options(ridge_test_support PRIVATE -O2)  # it walks whole traces
  ridge_join(tests ridge_test_support)
  ridge_add_gtest(unit ridge_tests "${unit_sources}" ridge_test_support ridge_server ridge_mcp simdjson::simdjson)
  ridge_add_gtest(differential ridge_differential "${differential_sources}" ridge_test_support simdjson::simdjson)

  ridge_add_script(golden "${Python3_EXECUTABLE}" tests/golden/run.py --ridge "$<TARGET_FILE:ridge>")
  if(EXISTS "${PROJECT_SOURCE_DIR}/tests/cli/run.py")
    ridge_add_script(cli "${Python3_EXECUTABLE}" tests/cli/run.py --ridge "$<TARGET_FILE:ridge>")
  endif()
  ridge_add_script(server "${Python3_EXECUTABLE}" tests/cli/server.py --ridge "$<TARGET_FILE:ridge>")
  ridge_add_script(server_load "${Python3_EXECUTABLE}" tests/cli/server_load.py --ridge "$<TARGET_FILE:ridge>")
  ridge_add_script(mcp "${Python3_EXECUTABLE}" tests/cli/mcp.py --ridge "$<TARGET_FILE:ridge>")
  ridge_add_script(profile_analysis "${Python3_EXECUTABLE}" tests/cli/profile_analysis.py --program "$<TARGET_FILE:profile_analysis>")
  ridge_add_script(python "${Python3_EXECUTABLE}" python/tests/run --build "${CMAKE_BINARY_DIR}")
  set_tests_properties(python PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
  if(NOT RIDGE_SANITIZE)  # these do not depend on how the binary was built: once is enough
    ridge_add_script(layers "${Python3_EXECUTABLE}" tools/check_layers)
    ridge_add_script(layers_self_test "${Python3_EXECUTABLE}" tools/check_layers --self-test)
    ridge_add_script(lasting "${Python3_EXECUTABLE}" tools/check_lasting "$<TARGET_FILE:ridge_core>")
    ridge_add_script(mcp_clients tests/mcp/run)
    set_tests_properties(mcp_clients PROPERTIES ENVIRONMENT "RIDGE=$<TARGET_FILE:ridge>" SKIP_RETURN_CODE 77 TIMEOUT 300)
    ridge_add_script(browser tests/browser/run)
    set_tests_properties(browser PROPERTIES ENVIRONMENT "RIDGE=$<TARGET_FILE:ridge>" SKIP_RETURN_CODE 77 TIMEOUT 1200 RUN_SERIAL ON)
    ridge_add_script(docs "${Python3_EXECUTABLE}" tools/check_docs --ridge "$<TARGET_FILE:ridge>")
    ridge_add_script(recording "${Python3_EXECUTABLE}" tests/recording/run.py --ridge "$<TARGET_FILE:ridge>")
    ridge_add_script(docs_self_test "${Python3_EXECUTABLE}" tools/check_docs --self-test)
  endif()
endif()

# fuzz/<target>.cc is a libFuzzer target; without libFuzzer one program replays the corpora of all, fuzz/corpus/<target>/.
file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*.cc")
add_custom_target(fuzzers)
list(REMOVE_ITEM fuzz_sources "${PROJECT_SOURCE_DIR}/fuzz/replay_main.cc")
function(ridge_add_fuzz_program program)
  add_executable(${program} ${ARGN})
  target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${program} PRIVATE ridge_server ridge_mcp ridge_core fmt::fmt)
endfunction()

set(fuzz_targets "")
foreach(source IN LISTS fuzz_sources)
  get_filename_component(target "${source}" NAME_WE)
  if(RIDGE_FUZZ)
    ridge_add_fuzz_program(fuzz_${target} "${source}")
    add_dependencies(fuzzers fuzz_${target})
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
  else()
    set_source_files_properties("${source}" PROPERTIES COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=fuzz_${target})
    string(APPEND fuzz_targets "RIDGE_FUZZ_TARGET(${target})\n")
    ridge_add_script(fuzz_${target} fuzz_replay ${target} fuzz/corpus/${target})
  endif()
endforeach()
if(fuzz_sources AND NOT RIDGE_FUZZ)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/fuzz_targets.inc" CONTENT "${fuzz_targets}")
  ridge_add_fuzz_program(fuzz_replay ${fuzz_sources} "${PROJECT_SOURCE_DIR}/fuzz/replay_main.cc")
  target_include_directories(fuzz_replay PRIVATE "${CMAKE_BINARY_DIR}/generated")
  target_compile_options(fuzz_replay PRIVATE ${ridge_test_flags})
endif()

# A fresh build knows no times: the longest suites begin first, so that both cores are busy to the end.
if(RIDGE_TESTS)
  set_tests_properties(unit_0 unit_1 PROPERTIES COST 2)
  set_tests_properties(cli python PROPERTIES COST 1)
endif()

get_property(suites DIRECTORY PROPERTY TESTS)
if(RIDGE_SANITIZE AND suites)
  include(SanitizerEnvironment)
  foreach(suite IN LISTS suites)
    set_property(TEST ${suite} APPEND PROPERTY ENVIRONMENT ${RIDGE_SANITIZER_ENVIRONMENT})
  endforeach()
endif()
