// The built web page, embedded: web_page.cc is generated from web/dist by cmake/WebPage.cmake. Without Node the list is empty.
#pragma once

#include <span>
#include <string_view>

namespace ridge::server {

struct WebFile {
  std::string_view path;  // "/index.html", "/assets/app.js", "/report.html"
  std::string_view content_type;
  std::string_view bytes;
};

std::span<const WebFile> web_files();

inline constexpr std::string_view kNoPage =
    "This ridge was built without its web page, because npm was not found.\n"
    "Install Node 18 or newer with npm (Debian: apt-get install nodejs npm) and build again. The data is under /api/v1/.\n";

}  // namespace ridge::server
