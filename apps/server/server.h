// Server: a Site over HTTP on one address. One thread moves bytes, a few others compute answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <ridge/result.h>

#include "security.h"
#include "site.h"

namespace ridge::server {

struct ServerOptions {
  std::string host = "127.0.0.1";  // a name or an address; one that is not loopback needs the run's token
  std::uint16_t port = 0;          // 0: any that is free
  std::size_t most_connections = 64;
  std::chrono::milliseconds request_time{10'000};  // for a whole request head to arrive
  std::chrono::milliseconds idle_time{60'000};     // between two requests
  std::chrono::milliseconds answer_time{30'000};   // for an answer to be taken
};

class Server {
 public:
  // Listens when this returns. `site` must outlive the server.
  static Result<std::unique_ptr<Server>> start(const Site& site, const ServerOptions& options);
  ~Server();  // stops: answers under way are waited for, connections are closed
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const Policy& policy() const;
  // What to open: with the token, where one is needed.
  std::string url() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ridge::server
