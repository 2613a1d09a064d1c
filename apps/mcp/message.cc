// What is a request, what is refused and with which code; and the frames of answers.
#include "message.h"

#include <ridge/json.h>

namespace ridge::mcp {
namespace {

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

std::string id_text(const JsonValue& value) {
  if (const std::int64_t* number = value.integer()) return std::to_string(*number);
  const std::string* text = value.text();
  return text != nullptr && text->size() <= kLongestId ? json_text(*text) : std::string();
}

tl::expected<Message, RpcError> read_message(std::string_view line) {
  auto parsed = parse_json(line);
  if (!parsed) return tl::unexpected(RpcError{kParseError, parsed.error().message, {}, id_text(salvage_member(line, "id"))});
  if (parsed->list() != nullptr)
    return tl::unexpected(RpcError{kInvalidRequest, "batches are not supported: send one message a line"});
  if (parsed->object() == nullptr) return tl::unexpected(RpcError{kInvalidRequest, "a message is a JSON object"});

  Message message;
  const JsonValue* id = parsed->find("id");
  if (id != nullptr) message.id = id_text(*id);
  const auto refuse = [&](int code, std::string what) {
    return tl::unexpected(RpcError{code, std::move(what), {}, message.id});
  };
  const JsonValue* version = parsed->find("jsonrpc");
  if (version == nullptr || version->text() == nullptr || *version->text() != "2.0")
    return refuse(kInvalidRequest, "\"jsonrpc\" must be \"2.0\"");
  const JsonValue* method = parsed->find("method");
  if (method == nullptr && (parsed->find("result") != nullptr || parsed->find("error") != nullptr)) {
    message.kind = Message::Kind::response;
    return message;
  }
  if (id != nullptr && message.id.empty())
    return refuse(kInvalidRequest, "\"id\" must be an integer or a string of at most 256 bytes");
  if (method == nullptr || method->text() == nullptr) return refuse(kInvalidRequest, "\"method\" must be a string");
  message.kind = id != nullptr ? Message::Kind::request : Message::Kind::notification;
  message.method = *method->text();
  if (const JsonValue* params = parsed->find("params")) {
    if (params->object() == nullptr) return refuse(kInvalidParams, "\"params\" must be an object");
    message.params = *params;
  }
  return message;
}

std::string result_line(std::string_view id, std::string_view result) {
  std::string line = R"({"jsonrpc":"2.0","id":)";
  line.append(id).append(R"(,"result":)").append(result).append("}\n");
  return line;
}

std::string error_line(const RpcError& error) {
  std::string line = R"({"jsonrpc":"2.0",)";
  // JSON-RPC wants the member, null where it could not be read.
  line.append(R"("id":)").append(error.id.empty() ? "null" : error.id).append(",");
  line.append(R"("error":{"code":)").append(std::to_string(error.code));
  line.append(R"(,"message":)").append(json_text(error.message));
  if (!error.data.empty()) line.append(R"(,"data":)").append(error.data);
  return line + "}}\n";
}

std::string notification_line(std::string_view method, std::string_view params) {
  std::string line = R"({"jsonrpc":"2.0","method":)";
  return line.append(json_text(method)).append(R"(,"params":)").append(params).append("}\n");
}

}  // namespace ridge::mcp
