// Answer: what a request gets, before it is written as HTTP.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "packed_text.h"

namespace ridge::server {

// Nobody reads it: the client went away before it was made. The number is nginx's.
inline constexpr unsigned kClientGone = 499;

struct Answer {
  unsigned status = 200;
  std::string_view content_type = "application/json";
  std::shared_ptr<const PackedText> body = std::make_shared<const PackedText>();
  bool lasting = false;  // a client may keep it: its name changes with its content

  std::string text() const { return body->text(); }
};

inline Answer answer(unsigned status, std::string_view body, std::string_view content_type = "application/json") {
  return {status, content_type, std::make_shared<const PackedText>(body), false};
}

}  // namespace ridge::server
