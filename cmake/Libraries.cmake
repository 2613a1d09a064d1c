# What the library and the command line link to; docs/dependencies.md says why. All from Debian 12, see tools/setup.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # the Python package adds this project as a folder of its own, and links to the same
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

# SQLite as an archive: it is set up for ridge alone (src/sql/memory_budget.h), and whoever loads ridge as a module may have one of his own. So its
# names stay inside.
find_path(sqlite_INCLUDE_DIR sqlite3.h REQUIRED)
find_library(sqlite_LIBRARY libsqlite3.a REQUIRED)
mark_as_advanced(sqlite_INCLUDE_DIR sqlite_LIBRARY)
add_library(sqlite::sqlite STATIC IMPORTED GLOBAL)
set_target_properties(sqlite::sqlite PROPERTIES IMPORTED_LOCATION "${sqlite_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${sqlite_INCLUDE_DIR}"
  INTERFACE_LINK_LIBRARIES "m;${CMAKE_DL_LIBS}" INTERFACE_LINK_OPTIONS "LINKER:--exclude-libs,libsqlite3.a")

# All of them that the library's archives need: whoever links these (the Python module, from a build that is there) links to the same.
set(ridge_libraries fmt::fmt simdjson::simdjson TBB::tbb isal::isal zstd::zstd re2::re2 sqlite::sqlite Threads::Threads)
