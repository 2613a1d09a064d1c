// Connection: one client over HTTP by Boost.Beast: reads a head, has it checked (security.h), has the answer made by a worker,
// writes it, and again. Nothing of a request is trusted: heads are bounded in size and time, bodies are never read.
// Connections are objects of the thread that moves bytes; workers only compute.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/optional.hpp>

#include "server.h"
#include "work_queue.h"

namespace ridge::server {

class Connection;
struct Sending;

// What the connections of a server share.
struct Connections {
  const Site& site;
  ServerOptions options;
  Policy policy;
  std::list<std::weak_ptr<Connection>> open;  // of the thread that moves bytes, as all but the workers
  std::size_t unsent_bytes = 0;               // of answers that are being written
  WorkQueue workers;

  Connections(const Site& site, ServerOptions options, Policy policy);

  // Whether one more may be opened. At the limit another gives way, see Connection::patience(); when each of them is being
  // answered, there is no room: the client may come again.
  bool make_room();
  // Closes all: what is under way for them is given up.
  void close_all();
  // Closes those that do not read while answers wait for more bytes than the limit.
  void drop_unread();

 private:
  enum class Which : bool { any, unread };
  bool close_one(Which which);
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Time = std::chrono::steady_clock::time_point;

  Connection(Socket socket, Connections& all) : stream_(std::move(socket)), all_(all) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void run();
  void close();  // now, whatever is under way

  // Who gives way to others, the first of these first, and of one kind who has been so for longest.
  enum class Patience : char {
    idle,       // has not sent a whole head
    unread,     // does not take its answer
    pipelines,  // sends requests without waiting for answers
    served,     // is being answered: never gives way
  };
  Patience patience() const;
  Time since() const { return since_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::empty_body>;
  using Errors = boost::beast::error_code;
  enum class Doing : char { waits, computes, writes };

  void begin(Doing what);
  void wait_for_request();
  void read_head();
  void on_head(Errors error);
  RequestFacts facts_of(const Parser::value_type& request) const;
  void compute(Target target);
  void watch_client();  // while its answer is made: who goes away waits for nothing
  bool is_gone();
  void send(const Answer& made, bool may_keep, const std::string& timing = {});
  std::string head_of(const Answer& made, bool may_keep, bool packed, const std::string& timing) const;
  void write(const std::shared_ptr<Sending>& sending);
  void written(const std::shared_ptr<Sending>& sending);
  void drain();
  void drain_more(std::size_t drained);

  boost::beast::tcp_stream stream_;
  Connections& all_;
  boost::beast::flat_buffer buffer_;
  boost::optional<Parser> parser_;
  std::array<char, 4096> waste_{};
  bool sets_cookie_ = false;
  bool pipelines_ = false;
  bool watched_ = false;  // somebody waits for bytes or their end
  Doing doing_ = Doing::waits;
  Time since_ = std::chrono::steady_clock::now();
  std::size_t unsent_bytes_ = 0;
  std::list<std::weak_ptr<Connection>>::iterator place_;  // in all_.open, unless closed
  std::atomic<bool> closed_{false};                       // also what stops the work for it
};

}  // namespace ridge::server
