// Raw bytes to a running server: it answers in HTTP or hangs up, and is there for the next one. A well-formed request must not
// be able to read anything but the page and the trace.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ridge/engine.h>

#include "server/server.h"
#include "server/site.h"

namespace {

using namespace ridge;

constexpr std::string_view kTrace = R"({"traceEvents": [
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9,"args":{"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":3,"args":{"correlation":4}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":6,"dur":20,"args":{"device":0,"stream":7,"correlation":4}}]})";

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

struct Running {
  std::unique_ptr<Engine> engine;
  std::unique_ptr<server::Site> site;
  std::unique_ptr<server::Server> server;

  Running() {
    char path[] = "/tmp/ridge_fuzz_XXXXXX";
    const int file = ::mkstemp(path);
    require(file >= 0, "no temporary file");
    std::ofstream(path) << kTrace;
    auto opened = Engine::open({path}, {});
    ::close(file);
    ::unlink(path);
    require(opened.has_value(), "the trace cannot be read");
    engine = std::make_unique<Engine>(std::move(*opened));
    site = std::make_unique<server::Site>(*engine, Arguments{});
    server::ServerOptions options;
    options.request_time = options.idle_time = std::chrono::milliseconds(300);
    auto started = server::Server::start(*site, options);
    require(started.has_value(), "the server cannot listen");
    server = std::move(*started);
  }
};

int connect_to(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require(socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
          "the server is gone");
  return socket;
}

std::string exchange(std::uint16_t port, std::string_view bytes) {
  const int socket = connect_to(port);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;  // it hung up: its right
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  ::shutdown(socket, SHUT_WR);
  std::string answer;
  std::array<char, 65536> chunk;
  for (ssize_t got; (got = ::recv(socket, chunk.data(), chunk.size(), 0)) > 0;)
    answer.append(chunk.data(), static_cast<std::size_t>(got));
  ::close(socket);
  return answer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Running running;
  const std::string answer = exchange(running.server->policy().port, {reinterpret_cast<const char*>(data), size});
  require(answer.empty() || answer.starts_with("HTTP/1.1 "), "an answer that is no HTTP");
  require(answer.find("Access-Control-") == std::string::npos, "a CORS header");
  require(answer.find("root:") == std::string::npos, "a file of the machine");
  return 0;
}
