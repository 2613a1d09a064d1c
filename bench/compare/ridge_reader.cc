// ridge_reader: the load alone, as the rivals do it: reads a trace into columns and prints events, and per ph and cat the count
// and the time.
//
//   ridge_reader FILE THREADS
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "ingest/reader.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: ridge_reader FILE THREADS\n", stderr);
    return 2;
  }
  ridge::ReadOptions options;
  options.threads = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  const auto read = ridge::read_trace(argv[1], options);
  if (!read) {
    std::fprintf(stderr, "ridge_reader: %s\n", read.error().message.c_str());
    return 1;
  }
  const ridge::Trace& trace = **read;
  std::map<std::pair<std::string, std::string>, std::pair<long long, long long>> answer;
  std::vector<std::pair<long long, long long>> by_form(trace.forms.forms().size());
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    auto& [events, time_ns] = by_form[trace.events.form(ridge::EventId{i}).value];
    ++events;
    time_ns += trace.events.dur_ns(ridge::EventId{i}).value_or(0);
  }
  for (std::size_t i = 0; i < by_form.size(); ++i) {
    const ridge::Kind& kind = trace.forms.kind(ridge::FormId{i});
    auto& [events, time_ns] = answer[{std::string(trace.text(kind.ph)), std::string(trace.text(kind.cat))}];
    events += by_form[i].first;
    time_ns += by_form[i].second;
  }
  std::printf("{\"events\": %llu, \"categories\": [", static_cast<unsigned long long>(trace.elements));
  const char* separator = "";
  for (const auto& [key, total] : answer) {
    std::printf("%s[\"%s\", \"%s\", %lld, %lld]", separator, key.first.c_str(), key.second.c_str(), total.first, total.second);
    separator = ", ";
  }
  std::puts("]}");
  std::fflush(stdout);
  std::_Exit(0);  // the time to free the columns is not counted, as for json.load
}
