# What the library and the command line link to; docs/dependencies.md says why. All from Debian 12, see tools/setup.
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(simdjson REQUIRED)
find_package(TBB REQUIRED)

# Two that ship no CMake package under a stable name.
function(ridge_import target header library)
  if(TARGET ${target})
    return()
  endif()
  string(MAKE_C_IDENTIFIER "${target}" id)
  find_path(${id}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${id}_LIBRARY ${library} REQUIRED)
  mark_as_advanced(${id}_INCLUDE_DIR ${id}_LIBRARY)
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${${id}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${id}_INCLUDE_DIR}")
endfunction()

ridge_import(isal::isal isa-l/igzip_lib.h isal)
ridge_import(zstd::zstd zstd.h zstd)
ridge_import(re2::re2 re2/re2.h re2)

# All of them that the library's archives need: whoever links these (the Python module, from a build that is there) links to the same.
set(ridge_libraries fmt::fmt simdjson::simdjson TBB::tbb isal::isal zstd::zstd re2::re2 Threads::Threads)
