// Answer: what a request gets, before it is written as HTTP.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace ridge::server {

struct Answer {
  unsigned status = 200;
  std::string_view content_type = "application/json";
  std::shared_ptr<const std::string> body = std::make_shared<const std::string>();
  bool lasting = false;  // a client may keep it: its name changes with its content
};

inline Answer answer(unsigned status, std::string body, std::string_view content_type = "application/json") {
  return {status, content_type, std::make_shared<const std::string>(std::move(body)), false};
}

}  // namespace ridge::server
