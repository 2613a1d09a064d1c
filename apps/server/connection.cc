// How a connection goes from one state to the next, and who is closed when there is no room.
#include "connection.h"

#include <algorithm>
#include <new>
#include <optional>
#include <sstream>
#include <thread>

#include <sys/socket.h>

#include <fmt/format.h>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <ridge/stop.h>

#include "timeline_json.h"
#include "work_clock.h"

namespace ridge::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

constexpr std::uint32_t kHeadBytes = 16 * 1024;
constexpr std::size_t kPieceToSend = std::size_t{64} << 10;
constexpr std::size_t kMostUnsent = std::size_t{64} << 20;
constexpr std::chrono::milliseconds kUnreadAfter{1000};
// Analyses use all cores by themselves; each takes memory while it runs, beyond what the engine keeps.
constexpr std::size_t kMostLong = 2;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }
boost::beast::string_view beast_view(std::string_view text) { return {text.data(), text.size()}; }

// Told by the parser, and not by the network or the clock.
bool is_malformed(beast::error_code error) {
  return error.category() == http::make_error_code(http::error::bad_target).category() && error != http::error::end_of_stream &&
         error != http::error::partial_message;
}

}  // namespace

// An answer on its way out.
struct Sending {
  std::string head;
  std::shared_ptr<const PackedText> body;
  bool packed;  // the client takes the bytes as they are kept
  bool keep;    // the connection, for another request
  std::optional<TextUnpacker> text;
  std::size_t at = 0;

  std::string_view next_piece() {
    if (body == nullptr) return {};
    if (text) return text->next(kPieceToSend);
    const std::string_view piece = std::string_view(body->bytes()).substr(at, kPieceToSend);
    at += piece.size();
    return piece;
  }
};

Connections::Connections(const Site& s, ServerOptions o, Policy p)
    : site(s),
      options(std::move(o)),
      policy(std::move(p)),
      workers(std::max(4U, std::thread::hardware_concurrency()), kMostLong) {}

bool Connections::make_room() { return open.size() < options.most_connections || close_one(Which::any); }

void Connections::close_all() {
  for (const auto& each : std::list(open)) {
    if (const auto one = each.lock()) one->close();
  }
}

void Connections::drop_unread() {
  while (unsent_bytes > kMostUnsent && close_one(Which::unread)) {
  }
}

bool Connections::close_one(Which which) {
  std::shared_ptr<Connection> chosen;
  const auto order = [](const Connection& one) { return std::pair(one.patience(), one.since()); };
  for (const auto& each : open) {
    auto one = each.lock();
    if (one == nullptr || one->patience() == Connection::Patience::served) continue;
    if (which == Which::unread && one->patience() != Connection::Patience::unread) continue;
    if (chosen == nullptr || order(*one) < order(*chosen)) chosen = std::move(one);
  }
  if (chosen != nullptr) chosen->close();
  return chosen != nullptr;
}

void Connection::run() {
  place_ = all_.open.insert(all_.open.end(), weak_from_this());
  beast::error_code ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  buffer_.max_size(kHeadBytes + 4096);
  wait_for_request();
}

void Connection::close() {
  if (closed_.exchange(true)) return;
  all_.open.erase(place_);
  all_.unsent_bytes -= std::exchange(unsent_bytes_, 0);
  beast::error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_both, ignored);
  stream_.close();
}

Connection::Patience Connection::patience() const {
  if (doing_ == Doing::waits) return Patience::idle;
  if (doing_ == Doing::writes && std::chrono::steady_clock::now() - since_ >= kUnreadAfter) return Patience::unread;
  return pipelines_ ? Patience::pipelines : Patience::served;
}

void Connection::begin(Doing what) {
  doing_ = what;
  since_ = std::chrono::steady_clock::now();
}

// A kept connection may be idle for a while; once bytes of a request are there, the rest must follow soon.
void Connection::wait_for_request() {
  begin(Doing::waits);
  if (buffer_.size() > 0) return read_head();
  stream_.expires_after(all_.options.idle_time);
  stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](Errors error, std::size_t bytes) {
    if (error) return self->close();
    self->buffer_.commit(bytes);
    self->read_head();
  });
}

void Connection::read_head() {
  parser_.emplace();
  parser_->header_limit(kHeadBytes);
  parser_->body_limit(boost::none);  // never read: a head that announces one is refused
  stream_.expires_after(all_.options.request_time);
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](Errors error, std::size_t) { self->on_head(error); });
}

void Connection::on_head(Errors error) {
  if (closed_) return;
  begin(Doing::computes);
  // Answers and closes: what follows on the connection cannot be trusted to be a request.
  const auto give_up = [this](const Answer& made) { send(made, false); };
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return give_up(answer(431, error_json("head_too_large", "request header too large", "")));
  const bool has_body = error == http::error::unexpected_body || error == http::error::body_limit;
  if (error && !has_body)
    return is_malformed(error) ? give_up(answer(400, error_json("bad_request", "malformed request", ""))) : close();
  pipelines_ = buffer_.size() > 0;
  const auto& request = parser_->get();
  RequestFacts facts = facts_of(request);
  facts.has_body |= has_body;
  if (auto refused = refuse_request(all_.policy, facts)) return give_up(*refused);
  auto target = parse_target(view(request.target()));
  if (!target) return send(refusal(target.error()), true);
  const bool by_parameter = target->query.contains("token");
  if (!is_authorised(all_.policy, facts, &*target)) {
    return give_up(
        answer(403, error_json("forbidden", "missing or wrong access token", "open the URL that ridge serve printed")));
  }
  sets_cookie_ = by_parameter && !all_.policy.token.empty();
  compute(std::move(*target));
}

RequestFacts Connection::facts_of(const Parser::value_type& request) const {
  // A body over the limit ends the parser before its head is done: only then are these questions allowed.
  const bool head_done = parser_->is_header_done();
  const auto length = head_done ? parser_->content_length() : boost::none;
  const bool chunked = head_done && parser_->chunked();
  const std::string_view target = view(request.target());
  return {.method = view(request.method_string()),
          .host = request.count(http::field::host) == 1 ? view(request[http::field::host]) : std::string_view(),
          .origin = view(request[http::field::origin]),
          .fetch_site = view(request["Sec-Fetch-Site"]),
          .fetch_mode = view(request["Sec-Fetch-Mode"]),
          .fetch_dest = view(request["Sec-Fetch-Dest"]),
          .path = target.substr(0, target.find('?')),
          .cookie = view(request[http::field::cookie]),
          .has_body = chunked || (length && *length > 0) || request.count(http::field::transfer_encoding) > 0 ||
                      request.count(http::field::upgrade) > 0};
}

// A client that ended what it sends (a page that was left, Ctrl-C) reads nothing any more. Bytes that are there are the next
// request's: they stay, and the end behind them is not seen before they are read.
bool Connection::is_gone() {
  char byte = 0;
  const ssize_t got = ::recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void Connection::watch_client() {
  if (watched_) return;
  watched_ = true;
  stream_.socket().async_wait(Socket::wait_read, [self = shared_from_this()](Errors error) {
    self->watched_ = false;
    if (!error && !self->closed_ && self->doing_ == Doing::computes && self->is_gone()) self->close();
  });
}

// Off the thread that moves bytes: a first answer may take a second.
void Connection::compute(Target target) {
  stream_.expires_never();
  const bool is_long = all_.site.takes_long(target);
  if (is_long) watch_client();
  auto run = [self = shared_from_this(), target = std::move(target), clock = WorkClock()]() mutable {
    if (self->closed_) return;
    const StopWhen stop(self->closed_);
    clock.started();
    Answer made;
    try {
      made = self->all_.site.get(target);
    } catch (const std::bad_alloc&) {
      made = answer(500,
                    error_json("out_of_memory", "not enough memory for this answer", "request fewer rows or a shorter range"));
    }
    asio::post(self->stream_.get_executor(), [self, made, timing = clock.text()] {
      if (!self->closed_) self->send(made, true, timing);
    });
  };
  all_.workers.add({.is_long = is_long, .pipelined = pipelines_, .run = std::move(run)});
}

void Connection::send(const Answer& made, bool may_keep, const std::string& timing) {
  const auto& request = parser_->get();
  const bool packed = made.body->is_gzip() && accepts_gzip(view(request[http::field::accept_encoding]));
  const bool keep = may_keep && parser_->is_header_done() && request.keep_alive();
  const bool head_only = request.method() == http::verb::head;
  auto sending = std::make_shared<Sending>(head_of(made, keep, packed, timing), head_only ? nullptr : made.body, packed, keep);
  if (sending->body != nullptr && !packed) sending->text.emplace(*sending->body);
  sets_cookie_ = false;
  unsent_bytes_ = made.body->bytes().size();
  all_.unsent_bytes += unsent_bytes_;
  all_.drop_unread();
  write(sending);
}

std::string Connection::head_of(const Answer& made, bool keep, bool packed, const std::string& timing) const {
  http::response<http::empty_body> response;
  response.version(11);
  response.result(made.status);
  response.set(http::field::content_type, beast_view(made.content_type));
  for (const auto& [name, value] : security_headers()) response.set(beast_view(name), beast_view(value));
  response.set(http::field::cache_control, made.lasting ? "public, max-age=31536000, immutable" : "no-store");
  if (made.status == 405) response.set(http::field::allow, "GET");
  if (sets_cookie_) {
    response.set(http::field::set_cookie,
                 fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", all_.policy.cookie_name(), all_.policy.token));
  }
  response.set(http::field::vary, "Accept-Encoding");
  if (packed) response.set(http::field::content_encoding, "gzip");
  if (!timing.empty()) response.set("Server-Timing", timing);
  response.keep_alive(keep);
  response.content_length(packed ? made.body->bytes().size() : made.body->text_size());
  std::ostringstream head;
  head << response.base();
  return std::move(head).str();
}

// A piece at a time: each must be taken in time, and who does not read is known by it.
void Connection::write(const std::shared_ptr<Sending>& sending) {
  begin(Doing::writes);
  const std::string_view piece = sending->next_piece();
  if (piece.empty() && sending->head.empty()) return written(sending);
  stream_.expires_after(all_.options.answer_time);
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(sending->head), asio::buffer(piece)};
  asio::async_write(stream_, buffers, [self = shared_from_this(), sending](Errors error, std::size_t) {
    if (error) return self->close();
    sending->head.clear();
    self->write(sending);
  });
}

void Connection::written(const std::shared_ptr<Sending>& sending) {
  all_.unsent_bytes -= std::exchange(unsent_bytes_, 0);
  sending->keep ? wait_for_request() : drain();
}

// Closing with bytes unread would reset the connection, and the client might not see its answer: a little is read and thrown
// away first.
void Connection::drain() {
  beast::error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_send, ignored);
  stream_.expires_after(std::chrono::seconds(1));
  drain_more(0);
}

void Connection::drain_more(std::size_t drained) {
  constexpr std::size_t kMost = std::size_t{256} * 1024;
  if (drained > kMost) return close();
  stream_.async_read_some(asio::buffer(waste_), [self = shared_from_this(), drained](Errors error, std::size_t bytes) {
    error ? self->close() : self->drain_more(drained + bytes);
  });
}

}  // namespace ridge::server
