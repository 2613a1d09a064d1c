# ridge_join(kind target): where RIDGE_JOIN asks for targets of this kind (product or tests), the sources of a folder are compiled several to an
# object. Headers are then read once for many sources and templates made once, which is most of the work.
# What it asks of the code: names in the unnamed namespaces of one folder differ. A source that cannot be joined is named here, with why.
set(RIDGE_JOIN "product;tests" CACHE STRING "Which sources are compiled several to an object: product, tests, both (product;tests) or none")

# Sources to an object: few enough that two cores end at the same time. Tests are quicker to compile.
set(ridge_batch_product 8)
set(ridge_batch_tests 16)
set(ridge_apart
  apps/cli/arguments\.cc          # CLI11, the heaviest header there; it brings a std::quoted that hides ours
  apps/server/server\.cc          # Boost.Beast: as long as all others of the server together
  apps/server/connection\.cc      # the same
  src/ops/.*                      # every family of ops has its own kFamily, kRules, ...
  src/cost/triton/kernel_source_reader\.cc
  src/device/device_table\.cc)    # has short units of its own

# Folders whose subfolders are joined as if their sources lay in them: one folder per question must not mean one object each.
# diff and findings are large enough to stand alone.
set(ridge_joined_across src/analysis src/cost)
set(ridge_joined_alone src/analysis/diff src/analysis/findings)

function(ridge_join kind target)
  if(NOT kind IN_LIST RIDGE_JOIN)
    return()
  endif()
  list(JOIN ridge_apart "|" apart)
  list(JOIN ridge_joined_across "|" across)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/")
  list(FILTER sources EXCLUDE REGEX "^${CMAKE_BINARY_DIR}/")
  list(SORT sources)
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${source}")
    if(name MATCHES "^(${apart})$")
      continue()
    endif()
    get_filename_component(folder "${name}" DIRECTORY)
    if(NOT folder IN_LIST ridge_joined_alone)
      string(REGEX REPLACE "^(${across})/.*" "\\1" folder "${folder}")
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED ${folder}_count)
      set(${folder}_count 0)
    endif()
    math(EXPR batch "${${folder}_count} / ${ridge_batch_${kind}}")
    math(EXPR ${folder}_count "${${folder}_count} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${folder}_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # gcc takes a joined source for a header, and warns of types of unnamed namespaces in it.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
