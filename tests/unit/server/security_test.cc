// Who is let in: Host, Origin, methods, bodies and the token.
#include "server/security.h"

#include <gtest/gtest.h>

namespace ridge::server {
namespace {

unsigned status(const Policy& policy, const RequestFacts& facts) {
  const auto refused = refuse_request(policy, facts);
  return refused ? refused->status : 200;
}

Policy at_home() { return {.loopback = true, .host = "127.0.0.1", .machine_name = "box", .token = "", .port = 8000}; }
Policy abroad() { return {.loopback = false, .host = "0.0.0.0", .machine_name = "box", .token = make_token(), .port = 8000}; }

RequestFacts get(std::string_view host) {
  return {.method = "GET",
          .host = host,
          .origin = "",
          .fetch_site = "",
          .fetch_mode = "",
          .fetch_dest = "",
          .path = "/api/v1/traces",
          .cookie = "",
          .has_body = false};
}

TEST(Security, OnlyGetAndNoBody) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "HEAD", "get", "TRACE", ""}) {
    RequestFacts facts = get("localhost");
    facts.method = method;
    EXPECT_EQ(status(at_home(), facts), 405U) << method;
  }
  RequestFacts facts = get("localhost");
  facts.has_body = true;
  EXPECT_EQ(status(at_home(), facts), 413U);
}

TEST(Security, HostMustBeALoopbackName) {
  for (const char* good : {"localhost", "localhost:8000", "LOCALHOST:1", "127.0.0.1:8000", "127.1.2.3", "[::1]:8000", "[::1]"})
    EXPECT_EQ(status(at_home(), get(good)), 200U) << good;
  for (const char* bad : {"evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
                          "10.0.0.1:8000", "box", "0.0.0.0", "[::2]:1", "127.evil", "localhost."})
    EXPECT_EQ(status(at_home(), get(bad)), 403U) << bad;
  for (const char* broken :
       {"", ":8000", "[::1", "[localhost]", "localhost:", "localhost:x", "localhost:99999", "localhost:1:2"})
    EXPECT_EQ(status(at_home(), get(broken)), 400U) << broken;
}

TEST(Security, BeyondLoopbackAddressesAndOwnNamesAreAccepted) {
  for (const char* good : {"10.0.0.1:8000", "box:8000", "localhost:8000", "[fe80::1]:8000"})
    EXPECT_EQ(status(abroad(), get(good)), 200U) << good;
  EXPECT_EQ(status(abroad(), get("evil.example:8000")), 403U);
}

TEST(Security, OriginMustBeThePagesOwn) {
  RequestFacts facts = get("localhost:8000");
  facts.origin = "http://localhost:8000";
  EXPECT_EQ(status(at_home(), facts), 200U);
  for (const char* bad : {"null", "http://localhost:8001", "https://localhost:8000", "http://evil.example",
                          "http://localhost:8000.evil.example", "localhost:8000"}) {
    facts.origin = bad;
    EXPECT_EQ(status(at_home(), facts), 403U) << bad;
  }
  facts.origin = "";
  for (const char* site : {"cross-site", "same-site"}) {
    facts.fetch_site = site;
    EXPECT_EQ(status(at_home(), facts), 403U) << site;
  }
  for (const char* site : {"same-origin", "none"}) {
    facts.fetch_site = site;
    EXPECT_EQ(status(at_home(), facts), 200U) << site;
  }
}

TEST(Security, ALinkOfAnotherSiteOpensThePageAndNothingElse) {
  for (const char* site : {"cross-site", "same-site"}) {
    RequestFacts facts = get("localhost:8000");
    facts.fetch_site = site;
    facts.fetch_mode = "navigate";
    facts.fetch_dest = "document";
    for (const char* page : {"/", "/index.html"}) {
      facts.path = page;
      EXPECT_EQ(status(at_home(), facts), 200U) << page;
    }
    for (const char* other : {"/api/v1/traces", "/assets/app.js", "/api/v1/", "", "//"}) {
      facts.path = other;
      EXPECT_EQ(status(at_home(), facts), 403U) << other;
    }
    facts.path = "/";
    for (const char* dest : {"iframe", "frame", "object", "embed", "empty", "script", ""}) {
      facts.fetch_dest = dest;
      EXPECT_EQ(status(at_home(), facts), 403U) << dest;
    }
    facts.fetch_dest = "document";
    for (const char* mode : {"cors", "no-cors", "same-origin", ""}) {
      facts.fetch_mode = mode;
      EXPECT_EQ(status(at_home(), facts), 403U) << mode;
    }
    facts.fetch_mode = "navigate";
    facts.host = "evil.example";
    EXPECT_EQ(status(at_home(), facts), 403U);
    facts.host = "localhost:8000";
    facts.origin = "http://evil.example";
    EXPECT_EQ(status(at_home(), facts), 403U);
  }
}

TEST(Security, TheTokenComesByParameterOrCookie) {
  const Policy policy = abroad();
  const auto allowed = [&](std::string target_text, std::string cookie) {
    auto target = parse_target(target_text);
    RequestFacts facts = get("10.0.0.1");
    facts.cookie = cookie;
    const bool good = is_authorised(policy, facts, &*target);
    EXPECT_FALSE(target->query.contains("token"));
    return good;
  };
  EXPECT_TRUE(allowed("/api/v1/traces?token=" + policy.token, ""));
  EXPECT_TRUE(allowed("/", "a=b; ridge_8000=" + policy.token));
  EXPECT_TRUE(allowed("/assets/app.js", ""));
  EXPECT_FALSE(allowed("/", ""));
  EXPECT_FALSE(allowed("/", "ridge_8001=" + policy.token));
  EXPECT_FALSE(allowed("/?token=" + policy.token.substr(1), ""));
  EXPECT_FALSE(allowed("/?token=" + policy.token + "0", ""));
  EXPECT_FALSE(allowed("/?token=wrong", "ridge_8000=" + policy.token));
}

TEST(Security, TokensAreLongAndNeverTheSame) {
  EXPECT_EQ(make_token().size(), 32U);
  EXPECT_NE(make_token(), make_token());
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abd", "abc"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
}

}  // namespace
}  // namespace ridge::server
