// Starts the server, prints its URL, opens a browser if asked. HTTP itself is in apps/server.
#include "serve.h"

#include <array>
#include <charconv>
#include <thread>

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <unistd.h>

#include <fmt/format.h>

#include "analysis_defaults.h"
#include "bench_results.h"
#include "interrupt.h"
#include "open_traces.h"
#include "server/server.h"
#include "server/web_page.h"
#include "standard_streams.h"

extern char** environ;

namespace ridge::cli {
namespace {

constexpr std::array kOwn = {
    Parameter{"port", Type::integer, "port to listen on (default 0: any free port)"},
    Parameter{"host", Type::text, "address to listen on; beyond localhost, the URL carries an access token"},
    Parameter{"open", Type::boolean, "open the page in the browser"},
    kBenchParameter,
};

Result<server::ServerOptions> options_of(const Arguments& arguments) {
  server::ServerOptions options;
  if (const auto host = arguments.find("host"); host != arguments.end()) options.host = host->second;
  if (const auto port = arguments.find("port"); port != arguments.end()) {
    const std::string& text = port->second;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, options.port);
    if (error != std::errc{} || stop != end)
      return fail(ErrorCode::usage, fmt::format("invalid value '{}' for --port", text), {}, "give a number from 0 to 65535");
  }
  return options;
}

// The opener of the desktop, in the background; best effort, as the URL stands on the terminal anyway.
void open_browser(const std::string& url) {
#ifdef __APPLE__
  std::string program = "open";
#else
  std::string program = "xdg-open";
#endif
  std::string argument = url;
  char* words[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, words, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) write_standard_error(fmt::format("warning: cannot start {}; open the URL yourself\n", program));
}

Result<void> announce(const server::Server& server, const Settings& settings) {
  if (auto written = write_standard_output(server.url() + "\n"); !written) return written;
  if (settings.quiet) return {};
  const server::Policy& policy = server.policy();
  if (policy.loopback) {
    const std::string machine = policy.machine_name.empty() ? "THIS_MACHINE" : policy.machine_name;
    const std::string host = policy.host.find(':') == std::string::npos ? policy.host : "[" + policy.host + "]";
    write_standard_error(fmt::format("from another machine: ssh -L {0}:{1}:{0} {2}   then open the URL there; Ctrl-C stops\n",
                                     policy.port, host, machine));
  } else {
    write_standard_error("anyone with this URL can read the traces; Ctrl-C stops\n");
  }
  if (server::web_files().empty()) write_standard_error("warning: " + std::string(server::kNoPage));
  return {};
}

// Tables come and go for as long as the server runs. Of each of malloc's arenas some stays: with one per thread, which is
// glibc's way, the process grew to twice what is kept.
void use_few_arenas() {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, 2);
#endif
}

}  // namespace

std::span<const Parameter> serve_parameters() {
  static const std::vector<Parameter> all = with_analysis_defaults(kOwn);
  return all;
}

Result<int> run_serve(const Invocation& given) {
  use_few_arenas();
  const auto expanded = with_traces_of_folders(given);
  if (!expanded) return tl::unexpected(expanded.error());
  const Invocation& invocation = *expanded;
  const auto checked = check_traces(invocation);
  if (!checked) return tl::unexpected(checked.error());
  const auto options = options_of(invocation.arguments);
  if (!options) return tl::unexpected(options.error());
  const auto engine = open_traces(invocation, {.named_files_only = true, .keep_places = true});
  if (!engine) return tl::unexpected(engine.error());
  if (interrupted()) return fail(ErrorCode::interrupted, "interrupted");

  const auto bench = read_bench(invocation.arguments);
  if (!bench) return tl::unexpected(bench.error());
  const Arguments defaults = analysis_defaults(invocation.arguments, kOwn);
  if (auto there = check_scope(*engine, defaults); !there) return tl::unexpected(there.error());

  end_at_signals();  // nothing is left to save, and an answer under way may take long
  const server::Site site(*engine, defaults, true, *bench);
  const auto server = server::Server::start(site, *options);
  if (!server) return tl::unexpected(server.error());
  if (auto announced = announce(**server, invocation.settings); !announced) return tl::unexpected(announced.error());
  if (invocation.arguments.contains("open")) open_browser((*server)->url());
  std::thread([&site] { site.prepare(); }).detach();
  for (;;) ::pause();
}

}  // namespace ridge::cli
