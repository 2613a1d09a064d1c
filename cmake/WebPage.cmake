# The web page inside the binary. With npm the page is built from web/ whenever its sources change; a web/dist that is there is taken as it is
# without npm; with neither the binary is built all the same and `ridge serve` says what is missing.
find_program(RIDGE_NPM npm)
option(RIDGE_WEB "Build and embed the web page where npm is found" ON)

set(web_dir "${PROJECT_SOURCE_DIR}/web")
set(web_page_cc "${CMAKE_BINARY_DIR}/web_page.cc")
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS "${web_dir}/src/*" "${web_dir}/*.mjs" "${web_dir}/*.html")
list(FILTER web_sources EXCLUDE REGEX "/(node_modules|dist)/")

set(embed "${CMAKE_COMMAND}" -DDIST=${web_dir}/dist -DOUT=${web_page_cc} -P "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake")
if(RIDGE_WEB AND RIDGE_NPM AND EXISTS "${web_dir}/package.json")
  add_custom_command(OUTPUT "${web_page_cc}"
    COMMAND "${CMAKE_COMMAND}" -DNPM=${RIDGE_NPM} -DWEB=${web_dir} -P "${PROJECT_SOURCE_DIR}/cmake/BuildWebPage.cmake"
    COMMAND ${embed}
    DEPENDS ${web_sources} "${web_dir}/package.json" "${web_dir}/package-lock.json" "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake"
            "${PROJECT_SOURCE_DIR}/cmake/BuildWebPage.cmake"
    COMMENT "Building the web page" VERBATIM)
else()
  if(NOT EXISTS "${web_dir}/dist/index.html")
    message(STATUS "npm was not found: ridge is built without its web page")
  endif()
  file(GLOB web_built CONFIGURE_DEPENDS "${web_dir}/dist/*" "${web_dir}/dist/assets/*")
  add_custom_command(OUTPUT "${web_page_cc}" COMMAND ${embed}
    DEPENDS ${web_built} "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake" VERBATIM)
endif()

# The server: everything of apps/server and the page. Sees include/ only.
find_package(Boost 1.74 REQUIRED)
file(GLOB server_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/apps/server/*.cc")
add_library(ridge_server STATIC ${server_sources} "${web_page_cc}")
target_include_directories(ridge_server PUBLIC "${PROJECT_SOURCE_DIR}/apps" PRIVATE "${PROJECT_SOURCE_DIR}/apps/server")
target_link_libraries(ridge_server PUBLIC ridge_core PRIVATE fmt::fmt isal::isal Boost::headers Threads::Threads)
ridge_join(product ridge_server)
