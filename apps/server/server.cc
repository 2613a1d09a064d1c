// HTTP by Boost.Beast: a connection reads a head, has it checked (security.h), has the answer computed on a worker, writes it,
// and again. Nothing of a request is trusted: heads are bounded in size and time, bodies are never read, connections are
// counted.
#include "server.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <new>
#include <optional>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "gzip.h"
#include "timeline_json.h"
#include "work_clock.h"

namespace ridge::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr std::uint32_t kHeadBytes = 16 * 1024;
constexpr std::size_t kWorthPacking = 1024;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }
boost::beast::string_view beast_view(std::string_view text) { return {text.data(), text.size()}; }

class Connection;
using Waiting = std::list<std::weak_ptr<Connection>>;

struct Shared {
  const Site& site;
  ServerOptions options;
  Policy policy;
  asio::thread_pool workers;
  std::atomic<std::size_t> connections{0};
  std::atomic<bool> stopping{false};
  Waiting waiting;  // connections that have not sent a whole head, the longest waiting first; of the thread that moves bytes

  Shared(const Site& s, ServerOptions o, Policy p)
      : site(s), options(std::move(o)), policy(std::move(p)), workers(std::max(4U, std::thread::hardware_concurrency())) {}
};

// An answer in its last form.
struct Packed {
  http::response<http::span_body<const char>> response;
  std::shared_ptr<const std::string> body;  // what the span shows
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) { ++shared_.connections; }
  ~Connection() { --shared_.connections; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void run() {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->wait_for_request(); });
  }

  void close() {
    waits_no_more();
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

 private:
  using Parser = http::request_parser<http::empty_body>;

  // A kept connection may be idle for a while; once bytes of a request are there, the rest must follow soon.
  void wait_for_request() {
    place_ = shared_.waiting.insert(shared_.waiting.end(), weak_from_this());
    if (buffer_.size() > 0) return read_head();
    stream_.expires_after(shared_.options.idle_time);
    stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
      if (error) return self->close();
      self->buffer_.commit(bytes);
      self->read_head();
    });
  }

  void read_head() {
    parser_.emplace();
    parser_->header_limit(kHeadBytes);
    parser_->body_limit(boost::none);  // never read: a head that announces one is refused
    stream_.expires_after(shared_.options.request_time);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_head(error); });
  }

  void waits_no_more() {
    if (place_) shared_.waiting.erase(*place_);
    place_.reset();
  }

  void on_head(beast::error_code error) {
    waits_no_more();
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return give_up(answer(431, error_json("head_too_large", "request header too large", "")));
    const bool has_body = error == http::error::unexpected_body || error == http::error::body_limit;
    if (error && !has_body)
      return is_malformed(error) ? give_up(answer(400, error_json("bad_request", "malformed request", ""))) : close();
    const auto& request = parser_->get();
    RequestFacts facts = facts_of(request);
    facts.has_body |= has_body;
    if (auto refused = refuse_request(shared_.policy, facts)) return give_up(*refused);
    auto target = parse_target(view(request.target()));
    if (!target) return send(refusal(target.error()));
    const bool by_parameter = target->query.contains("token");
    if (!is_authorised(shared_.policy, facts, &*target)) {
      return give_up(
          answer(403, error_json("forbidden", "missing or wrong access token", "open the URL that ridge serve printed")));
    }
    sets_cookie_ = by_parameter && !shared_.policy.token.empty();
    compute(std::move(*target));
  }

  // Told by the parser, and not by the network or the clock.
  static bool is_malformed(beast::error_code error) {
    return error.category() == http::make_error_code(http::error::bad_target).category() &&
           error != http::error::end_of_stream && error != http::error::partial_message;
  }

  RequestFacts facts_of(const http::request<http::empty_body>& request) const {
    // A body over the limit ends the parser before its head is done: only then are these questions allowed.
    const bool head_done = parser_->is_header_done();
    const auto length = head_done ? parser_->content_length() : boost::none;
    const bool chunked = head_done && parser_->chunked();
    return {.method = view(request.method_string()),
            .host = request.count(http::field::host) == 1 ? view(request[http::field::host]) : std::string_view(),
            .origin = view(request[http::field::origin]),
            .fetch_site = view(request["Sec-Fetch-Site"]),
            .cookie = view(request[http::field::cookie]),
            .has_body = chunked || (length && *length > 0) || request.count(http::field::transfer_encoding) > 0 ||
                        request.count(http::field::upgrade) > 0};
  }

  // Off the thread that moves bytes: a first answer may take a second.
  void compute(Target target) {
    stream_.expires_never();
    asio::post(shared_.workers, [self = shared_from_this(), target = std::move(target), clock = WorkClock()]() mutable {
      if (self->shared_.stopping) return;
      clock.started();
      Answer made;
      try {
        made = self->shared_.site.get(target);
      } catch (const std::bad_alloc&) {
        made = answer(
            500, error_json("out_of_memory", "not enough memory for this answer", "request fewer rows or a shorter range"));
      }
      auto packed = std::make_shared<Packed>(self->pack(made, true));
      packed->response.set("Server-Timing", clock.text());
      asio::post(self->stream_.get_executor(), [self, packed] { self->write(packed, true); });
    });
  }

  void send(const Answer& made) { write(std::make_shared<Packed>(pack(made, true)), true); }
  // Answers and closes: what follows on the connection cannot be trusted to be a request.
  void give_up(const Answer& made) { write(std::make_shared<Packed>(pack(made, false)), false); }

  Packed pack(const Answer& made, bool may_keep) const {
    const auto& request = parser_->get();
    Packed packed;
    auto& response = packed.response;
    packed.body = made.body;
    response.version(11);
    response.result(made.status);
    response.set(http::field::content_type, beast_view(made.content_type));
    for (const auto& [name, value] : security_headers()) response.set(beast_view(name), beast_view(value));
    response.set(http::field::cache_control, made.lasting ? "public, max-age=31536000, immutable" : "no-store");
    if (made.status == 405) response.set(http::field::allow, "GET");
    if (sets_cookie_) {
      response.set(http::field::set_cookie,
                   fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", shared_.policy.cookie_name(), shared_.policy.token));
    }
    response.set(http::field::vary, "Accept-Encoding");
    if (made.body->size() >= kWorthPacking && accepts_gzip(view(request[http::field::accept_encoding]))) {
      std::string small = gzip(*made.body);
      if (!small.empty()) {
        packed.body = std::make_shared<const std::string>(std::move(small));
        response.set(http::field::content_encoding, "gzip");
      }
    }
    const bool head_only = request.method() == http::verb::head;
    response.body() = {packed.body->data(), head_only ? 0 : packed.body->size()};
    response.keep_alive(may_keep && parser_->is_header_done() && request.keep_alive());
    response.content_length(packed.body->size());
    return packed;
  }

  void write(const std::shared_ptr<Packed>& packed, bool may_keep) {
    sets_cookie_ = false;
    stream_.expires_after(shared_.options.answer_time);
    const bool keep = may_keep && packed->response.keep_alive();
    http::async_write(stream_, packed->response,
                      [self = shared_from_this(), packed, keep](beast::error_code error, std::size_t) {
                        if (error) return self->close();
                        keep ? self->wait_for_request() : self->drain();
                      });
  }

  // Closing with bytes unread would reset the connection, and the client might not see its answer: a little is read and thrown
  // away first.
  void drain() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(std::chrono::seconds(1));
    drain_more(0);
  }

  void drain_more(std::size_t drained) {
    constexpr std::size_t kMost = std::size_t{256} * 1024;
    if (drained > kMost) return close();
    stream_.async_read_some(asio::buffer(waste_),
                            [self = shared_from_this(), drained](beast::error_code error, std::size_t bytes) {
                              error ? self->close() : self->drain_more(drained + bytes);
                            });
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  beast::flat_buffer buffer_{kHeadBytes + 4096};
  boost::optional<Parser> parser_;
  std::array<char, 4096> waste_{};
  bool sets_cookie_ = false;
  std::optional<Waiting::iterator> place_;  // in shared_.waiting
};

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
  Shared shared;  // outlives the connections, which the io_context owns
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::thread mover;

  State(const Site& site, const ServerOptions& options, Policy policy) : shared(site, options, std::move(policy)) {}

  // First no more bytes move, then the workers end; what they hand over is never sent.
  ~State() {
    shared.stopping = true;
    io.stop();
    if (mover.joinable()) mover.join();
    shared.workers.join();
  }

  void accept() {
    acceptor.async_accept(io, [this](beast::error_code error, tcp::socket socket) {
      if (!error && has_room()) std::make_shared<Connection>(std::move(socket), shared)->run();
      if (error) return accept_later();  // out of descriptors, as a rule
      accept();
    });
  }

  // At the limit the connection that has waited longest for a request gives way: idle clients and heads that never end keep
  // nobody out. When all are being answered, the new one is closed at once: its client may come again.
  bool has_room() {
    if (shared.connections < shared.options.most_connections) return true;
    if (shared.waiting.empty()) return false;
    const auto longest = shared.waiting.front().lock();
    if (longest) longest->close();
    return longest != nullptr;
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
