# cmake -DDIR=python/ridge/recording -DOUT=record_hook_files.cc -P EmbedHook.cmake: the Python files that record, as a table of texts
# (apps/cli/record_hook.h). sitecustomize.py stands beside the package, which is called _ridge_recording there.
file(GLOB files RELATIVE "${DIR}" "${DIR}/*.py" "${DIR}/hook/*.py")
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
  file(READ "${DIR}/${file}" text)
  string(REGEX REPLACE "^hook/" "" path "${file}")
  if(path STREQUAL file)
    set(path "_ridge_recording/${file}")
  endif()
  string(APPEND rows "    {\"${path}\", R\"RIDGE_TEXT(${text})RIDGE_TEXT\"sv},\n")
endforeach()
file(WRITE "${OUT}" "// Made by cmake/EmbedHook.cmake from python/ridge/recording. Do not edit.\n#include \"cli/record_hook.h\"\n\nnamespace ridge::cli {\nnamespace {\n\nusing namespace std::string_view_literals;\n\nconstexpr HookFile kHookFiles[] = {\n${rows}};\n\n}  // namespace\n\nstd::span<const HookFile> hook_files() { return kHookFiles; }\n\n}  // namespace ridge::cli\n")
