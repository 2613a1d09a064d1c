// A line of the protocol as a JSON-RPC message, and the lines that answer it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "json_value.h"

namespace ridge::mcp {

inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;
inline constexpr std::size_t kLongestId = 256;

// The codes of JSON-RPC, and the one of the protocol that this server needs.
enum : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kUnsupportedVersion = -32022,
};

struct Message {
  enum class Kind { request, notification, response };
  Kind kind = Kind::request;
  std::string id;  // of a request, as JSON text
  std::string method;
  JsonValue params;  // an object, or null where it has none
};

struct RpcError {
  int code = 0;
  std::string message;
  std::string data = {};  // JSON; empty: none
  std::string id = {};    // of the request, where it could be read
};

tl::expected<Message, RpcError> read_message(std::string_view line);

// The id of a request as JSON text; empty where it is none.
std::string id_text(const JsonValue& value);

// Lines, with their newline. `result` and `params` are JSON objects.
std::string result_line(std::string_view id, std::string_view result);
std::string error_line(const RpcError& error);
std::string notification_line(std::string_view method, std::string_view params);

}  // namespace ridge::mcp
