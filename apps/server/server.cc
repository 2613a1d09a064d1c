// Listens, takes connections (connection.h) within their number, and has one thread move their bytes.
#include "server.h"

#include <algorithm>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "connection.h"

namespace ridge::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

namespace {

tl::unexpected<Error> cannot_listen(const ServerOptions& options, const std::string& why) {
  return fail(ErrorCode::cannot_open, fmt::format("cannot listen on {}:{}: {}", options.host, options.port, why), "",
              options.port != 0 ? "another program may use the port; --port 0 picks a free one"
                                : "give --host a name or address of this machine");
}

std::string machine_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return {};
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

struct Server::State {
  Connections shared;  // outlives the connections, which the io_context owns
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::thread mover;

  State(const Site& site, const ServerOptions& options, Policy policy) : shared(site, options, std::move(policy)) {}

  // First no more bytes move, then the workers end, what they do being given up; what they hand over is never sent.
  ~State() {
    io.stop();
    if (mover.joinable()) mover.join();
    shared.close_all();
    shared.workers.stop();
  }

  void accept() {
    acceptor.async_accept(io, [this](beast::error_code error, tcp::socket socket) {
      if (!error && shared.make_room()) std::make_shared<Connection>(std::move(socket), shared)->run();
      if (error) return accept_later();  // out of descriptors, as a rule
      accept();
    });
  }

  void accept_later() {
    pause.expires_after(std::chrono::milliseconds(100));
    pause.async_wait([this](beast::error_code error) {
      if (!error) accept();
    });
  }

  asio::steady_timer pause{io};
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(const Site& site, const ServerOptions& options) {
  asio::io_context io;
  beast::error_code error;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(options.host, std::to_string(options.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) return cannot_listen(options, error ? error.message() : "unknown host name");
  // The first address is taken; what is not loopback for all of them is not loopback.
  const tcp::endpoint endpoint = found.begin()->endpoint();
  const bool loopback =
      std::all_of(found.begin(), found.end(), [](const auto& entry) { return entry.endpoint().address().is_loopback(); });

  Policy policy{.loopback = loopback,
                .host = options.host,
                .machine_name = machine_name(),
                .token = loopback ? "" : make_token(),
                .port = 0};
  std::ranges::transform(policy.host, policy.host.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  auto state = std::make_unique<State>(site, options, std::move(policy));
  tcp::acceptor& acceptor = state->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return cannot_listen(options, error.message());
  state->shared.policy.port = acceptor.local_endpoint(error).port();
  state->accept();
  state->mover = std::thread([io_context = &state->io] { io_context->run(); });
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

const Policy& Server::policy() const { return state_->shared.policy; }

std::string Server::url() const {
  const Policy& policy = state_->shared.policy;
  const bool any = policy.host == "0.0.0.0" || policy.host == "::";
  std::string name = any && !policy.machine_name.empty() ? policy.machine_name : policy.host;
  if (name.find(':') != std::string::npos) name = "[" + name + "]";
  const std::string token = policy.token.empty() ? "" : "?token=" + policy.token;
  return fmt::format("http://{}:{}/{}", name, policy.port, token);
}

}  // namespace ridge::server
