// The page: as one file with its data, and served over HTTP from the trace that is open.
#include <memory>
#include <string>
#include <thread>

#include <nanobind/stl/string.h>

#include "engine.h"
#include "errors.h"
#include "outside.h"
#include "server/report_file.h"
#include "server/server.h"
#include "tables.h"
#include "watched.h"

namespace nb = nanobind;

namespace ridge::python {
namespace {

// What is sent to others says what traces are called, not where they lie on this machine.
nb::str page_with_data(const EngineHandle& self, const nb::dict& arguments) {
  const Arguments given = arguments_of(arguments);
  const std::shared_ptr<const Engine> engine = self.engine;
  std::string text;
  watched([&](Watch&) {
    const server::Site site(*engine, given, false);
    text = or_raise(server::make_report(site, or_raise(server::report_page())));
  });
  return text_of(text);
}

class Served {
 public:
  Served(std::shared_ptr<const Engine> engine, Arguments arguments, const server::ServerOptions& options)
      : engine_(std::move(engine)),
        site_(*engine_, std::move(arguments)),
        server_(or_raise(server::Server::start(site_, options))) {
    preparing_ = std::thread([this] { site_.prepare(); });
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() { stop(); }

  std::string url() const { return server_ ? server_->url() : std::string(); }
  bool is_loopback() const { return server_ && server_->policy().loopback; }

  void stop() {
    if (preparing_.joinable()) preparing_.join();
    server_.reset();
  }

 private:
  const std::shared_ptr<const Engine> engine_;
  const server::Site site_;
  std::unique_ptr<server::Server> server_;
  std::thread preparing_;
};

// Python's from then on.
Served* serve(const EngineHandle& self, const nb::dict& arguments, const std::string& host, std::uint16_t port) {
  Arguments given = arguments_of(arguments);
  const Outside outside;
  auto served = std::make_unique<Served>(self.engine, std::move(given), server::ServerOptions{.host = host, .port = port});
  return served.release();
}

}  // namespace

void register_pages(nb::module_& module) {
  nb::class_<Served>(module, "Server")
      .def_prop_ro("url", [](const Served& self) { return text_of(self.url()); })
      .def_prop_ro("is_loopback", &Served::is_loopback)
      .def("stop", &Served::stop, nb::call_guard<Outside>());
  module.def("serve", serve, nb::arg("engine"), nb::arg("arguments"), nb::arg("host"), nb::arg("port"));
  module.def("page_with_data", page_with_data);
}

}  // namespace ridge::python
