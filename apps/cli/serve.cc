// Starts the server, prints its URL, opens a browser if asked. HTTP itself is in apps/server.
#include "serve.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <unistd.h>

#include <fmt/format.h>

#include "analysis_defaults.h"
#include "bench_results.h"
#include "interrupt.h"
#include "job_before.h"
#include "memory_limit.h"
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
    kBeforeParameter,
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

// Of more traces, or larger ones, only the digests are held.
constexpr std::size_t kMostHeld = 24;
constexpr std::uint64_t kPackedGrows = 12;   // JSON against its file, where that is compressed
constexpr std::uint64_t kShareOfMemory = 2;  // of what may be used: the tables made of the traces need some too

bool too_many_to_hold(const std::vector<std::string>& paths) {
  if (paths.size() > kMostHeld) return true;
  if (paths.size() < 2 || machine_memory_limit() == 0) return false;
  std::uint64_t bytes = 0;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (!error) bytes += size * (path.ends_with(".json") ? 1 : kPackedGrows);
  }
  return bytes > machine_memory_limit() / kShareOfMemory;
}

Result<server::Shelf> shelf_of(const Engine& engine, const Invocation& invocation, OpenOptions options) {
  if (engine.trace_count() > 0) return server::Shelf(engine);
  options.threads = invocation.settings.threads;
  options.max_bytes = invocation.settings.max_bytes;
  options.max_memory = machine_memory_limit();
  return server::Shelf::of_job(engine, invocation.words, options);
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
  OpenOptions opened{.named_files_only = true, .keep_places = true, .digests_only = too_many_to_hold(invocation.words)};
  const auto engine = open_traces(invocation, opened);
  if (!engine) return tl::unexpected(engine.error());
  if (interrupted()) return fail(ErrorCode::interrupted, "interrupted");

  const auto bench = read_bench(*engine, invocation.arguments, invocation.settings.quiet);
  if (!bench) return tl::unexpected(bench.error());
  server::ShownBeside beside{.bench = *bench};
  if (auto read = read_before(*engine, invocation.arguments, &beside); !read) return tl::unexpected(read.error());
  const Arguments defaults = analysis_defaults(invocation.arguments, kOwn);
  const bool is_job = engine->trace_count() == 0;  // its digests are there, traces are read when asked for
  if (auto there = is_job ? Result<void>() : check_scope(*engine, defaults); !there) return tl::unexpected(there.error());
  const auto shelf = shelf_of(*engine, invocation, opened);
  if (!shelf) return tl::unexpected(shelf.error());

  end_at_signals();  // nothing is left to save, and an answer under way may take long
  const server::Site site(*shelf, defaults, true, beside);
  const auto server = server::Server::start(site, *options);
  if (!server) return tl::unexpected(server.error());
  if (auto announced = announce(**server, invocation.settings); !announced) return tl::unexpected(announced.error());
  if (invocation.arguments.contains("open")) open_browser((*server)->url());
  std::thread([&site] { site.prepare(); }).detach();
  for (;;) ::pause();
}

}  // namespace ridge::cli
