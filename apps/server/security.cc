// Each check in turn; the first that fails is the answer.
#include "security.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <arpa/inet.h>
#include <sys/random.h>

#include <fmt/format.h>

#include "timeline_json.h"

namespace ridge::server {
namespace {

constexpr std::array kHeaders = {
    Header{
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"},
    Header{"X-Content-Type-Options", "nosniff"},
    Header{"X-Frame-Options", "DENY"},
    Header{"Referrer-Policy", "no-referrer"},
    Header{"Cross-Origin-Opener-Policy", "same-origin"},
    Header{"Cross-Origin-Resource-Policy", "same-origin"},
};

struct HostName {
  std::string name;  // lower case, an IPv6 address without its brackets
  bool good = false;
};

// "localhost:8000", "[::1]:8000", "10.0.0.1".
HostName parse_host(std::string_view host) {
  std::string_view name = host, port;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    name = host.substr(1, end - 1);
    port = host.substr(end + 1);
    if (name.find(':') == std::string_view::npos) return {};
  } else if (const std::size_t colon = host.find(':'); colon != std::string_view::npos) {
    name = host.substr(0, colon);
    port = host.substr(colon);
  }
  if (name.empty()) return {};
  if (!port.empty()) {
    std::uint16_t number = 0;
    const char* end = port.data() + port.size();
    if (port.front() != ':' || port.size() < 2) return {};
    const auto [stop, error] = std::from_chars(port.data() + 1, end, number);
    if (error != std::errc{} || stop != end) return {};
  }
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return {std::move(lower), true};
}

bool is_own_name(const Policy& policy, const std::string& name) {
  if (is_loopback_name(name)) return true;
  if (policy.loopback) return false;
  return is_address(name) || name == policy.host || name == policy.machine_name;
}

// The page's own requests carry its own origin: "http://" and the very Host they are sent to.
bool is_own_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && origin.substr(kScheme.size()) == host;
}

// A click on a link: the browser leaves the other site for this page. Not a frame in it, nor anything that its scripts read.
bool follows_link(const RequestFacts& facts) {
  const bool is_page = facts.path == "/" || facts.path == "/index.html";
  return is_page && facts.fetch_mode == "navigate" && facts.fetch_dest == "document";
}

Answer forbidden(std::string_view message, std::string_view hint) {
  return answer(403, error_json("forbidden", message, hint));
}

std::string_view cookie_value(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view pair = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('=')) return pair.substr(name.size() + 1);
  }
  return {};
}

}  // namespace

bool is_loopback_name(std::string_view name) {
  if (name == "localhost" || name == "::1") return true;
  return name.starts_with("127.") && is_address(name);
}

bool is_address(std::string_view name) {
  unsigned char bytes[sizeof(in6_addr)];
  const std::string text(name);
  return ::inet_pton(AF_INET, text.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

std::optional<Answer> refuse_request(const Policy& policy, const RequestFacts& facts) {
  if (facts.method != "GET") return answer(405, error_json("method_not_allowed", "only GET is supported", ""));
  if (facts.has_body) return answer(413, error_json("body_refused", "requests must not have a body", ""));
  const HostName host = parse_host(facts.host);
  if (!host.good) return answer(400, error_json("bad_request", "missing or malformed Host header", ""));
  if (!is_own_name(policy, host.name)) return forbidden("unexpected Host header", "open the URL that ridge serve printed");
  if (!facts.origin.empty() && !is_own_origin(facts.origin, facts.host))
    return forbidden("cross-origin requests are refused", "");
  const bool foreign = facts.fetch_site == "cross-site" || facts.fetch_site == "same-site";
  if (foreign && !follows_link(facts))
    return forbidden("cross-origin requests are refused", "type the URL, or open it in a new tab");
  return std::nullopt;
}

bool is_authorised(const Policy& policy, const RequestFacts& facts, Target* target) {
  std::string given;
  if (const auto parameter = target->query.find("token"); parameter != target->query.end()) {
    given = parameter->second;
    target->query.erase(parameter);
  }
  if (policy.token.empty() || target->path.starts_with("/assets/")) return true;
  if (given.empty()) given = cookie_value(facts.cookie, policy.cookie_name());
  return equal_in_constant_time(given, policy.token);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const char other = a.empty() ? '\0' : a[i % a.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(other) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

std::string make_token() {
  std::array<unsigned char, 16> bytes{};
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

std::span<const Header> security_headers() { return kHeaders; }

}  // namespace ridge::server
