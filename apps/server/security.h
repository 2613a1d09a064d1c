// Who may ask: the checks that every request passes before its target is looked at, and the headers that every answer carries.
//
// A page of another site must not read a trace through the user's browser: `Host` must be a name of this server (a rebound DNS
// name is not), `Origin` and Sec-Fetch-Site must be its own page's, and no CORS header is ever sent. A link there may lead
// here: the page itself, which holds no data, opens as a tab of its own. Beyond loopback a token of the run is needed besides.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "answer.h"
#include "query.h"

namespace ridge::server {

struct Policy {
  bool loopback = true;
  std::string host;          // what --host gave, or 127.0.0.1
  std::string machine_name;  // also a name of this server, beyond loopback
  std::string token;         // empty: none is needed
  std::uint16_t port = 0;

  std::string cookie_name() const { return "ridge_" + std::to_string(port); }
};

struct RequestFacts {
  std::string_view method;
  std::string_view host;        // empty: the header is absent
  std::string_view origin;      // the same
  std::string_view fetch_site;  // Sec-Fetch-Site, and so on
  std::string_view fetch_mode;
  std::string_view fetch_dest;
  std::string_view path;  // of the target, as sent
  std::string_view cookie;
  bool has_body = false;
};

// What to answer instead of the target; nothing when the request may go on.
std::optional<Answer> refuse_request(const Policy& policy, const RequestFacts& facts);

// The token, by parameter or by cookie; files of the page hold no data and need none. Takes the parameter out of the target.
bool is_authorised(const Policy& policy, const RequestFacts& facts, Target* target);

// Time does not tell how much of them is equal.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// 32 hexadecimal digits from the system's random source.
std::string make_token();

using Header = std::pair<std::string_view, std::string_view>;
std::span<const Header> security_headers();

// Whether a Host header's name (without its port) is a loopback name, or any address.
bool is_loopback_name(std::string_view name);
bool is_address(std::string_view name);

}  // namespace ridge::server
