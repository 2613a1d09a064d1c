// The rival: simdjson's on-demand reader filling the same kind of columns that ridge fills.
//
//   simdjson_reader whole FILE             the file in memory, one document, one thread (simdjson stops at 4 GiB)
//   simdjson_reader chunked FILE THREADS   256 KiB of whole events at a time, on several threads
//
// Core columns (ph+cat, name, pid, tid, ts, dur) and every argument: numbers as numbers, anything else as interned text.
// Prints the answer that all rivals must agree on: {"events": N, "categories": [[ph, cat, events, time_ns], ...]}.
#include <fcntl.h>
#include <simdjson.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

namespace ondemand = simdjson::ondemand;

// Microseconds as decimal text to nanoseconds; digits beyond are dropped.
std::int64_t to_ns(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::int64_t value = 0;
  int decimals = -1;
  for (const char c : text.substr(negative ? 1 : 0)) {
    if (c == '.') {
      decimals = 0;
    } else if (c < '0' || c > '9') {
      break;
    } else if (decimals < 3) {
      value = value * 10 + (c - '0');
      if (decimals >= 0) ++decimals;
    }
  }
  for (int i = decimals < 0 ? 0 : decimals; i < 3; ++i) value *= 10;
  return negative ? -value : value;
}

// Interned text. Open addressing and a word-wise hash: the rival should not lose for its hash table.
class Pool {
 public:
  Pool() : slots_(1 << 12) { id(""); }

  std::uint32_t id(std::string_view text) {
    const std::uint64_t hash = hash_of(text);
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].id != kFree; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].hash == hash && texts_[slots_[at].id] == text) return slots_[at].id;
    }
    const auto next = static_cast<std::uint32_t>(texts_.size());
    texts_.emplace_back(text);
    slots_[at] = {hash, next};
    if (texts_.size() * 2 > slots_.size()) grow();
    return next;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t id = kFree;
  };

  static std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = text.size() * 0x9E3779B97F4A7C15U;
    for (; text.size() >= 8; text.remove_prefix(8)) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data(), 8);
      hash = mix(hash ^ word);
    }
    std::uint64_t word = 0;
    if (!text.empty()) std::memcpy(&word, text.data(), text.size());
    return mix(hash ^ word);
  }

  static std::uint64_t mix(std::uint64_t word) {
    word *= 0xD6E8FEB86659FD93U;
    return word ^ (word >> 32);
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id == kFree) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].id != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::deque<std::string> texts_;
};

struct Argument {
  std::uint32_t key;
  std::uint32_t text;  // id of the text; 0 for a number
  std::int64_t value;  // bits of the number
};

using Answer = std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::int64_t>>;

struct Total {
  std::string ph, cat;
  std::int64_t events, time_ns;
};

struct Columns {
  Pool strings;
  std::vector<std::uint32_t> kind, name, pid, tid, first_argument;
  std::vector<std::int64_t> ts_ns, dur_ns;
  std::vector<Argument> arguments;
  std::unordered_map<std::uint64_t, std::uint32_t> kinds;  // by the ids of ph and cat
  std::vector<Total> totals;                               // by kind
};

std::uint32_t kind_of(std::string_view ph, std::string_view cat, Columns& columns) {
  const std::uint64_t key = std::uint64_t{columns.strings.id(ph)} << 32 | columns.strings.id(cat);
  const auto [found, is_new] = columns.kinds.try_emplace(key, static_cast<std::uint32_t>(columns.totals.size()));
  if (is_new) columns.totals.push_back({std::string(ph), std::string(cat), 0, 0});
  return found->second;
}

std::string_view raw(ondemand::value value) { return value.raw_json_token(); }

void read_arguments(ondemand::object object, Columns& columns) {
  for (auto member : object) {
    const std::string_view key = member.unescaped_key();
    ondemand::value value = member.value();
    Argument argument{columns.strings.id(key), 0, 0};
    const ondemand::json_type type = value.type();
    if (type == ondemand::json_type::number) {
      const ondemand::number number = value.get_number();
      if (number.is_double()) {
        const double real = number.get_double();
        std::memcpy(&argument.value, &real, sizeof real);
      } else {
        argument.value = number.is_int64() ? number.get_int64() : static_cast<std::int64_t>(number.get_uint64());
      }
    } else if (type == ondemand::json_type::array) {
      argument.text = columns.strings.id(value.get_array().value().raw_json());
    } else if (type == ondemand::json_type::object) {
      argument.text = columns.strings.id(value.get_object().value().raw_json());
    } else {
      argument.text = columns.strings.id(raw(value));
    }
    columns.arguments.push_back(argument);
  }
}

void read_event(ondemand::object event, Columns& columns) {
  std::string_view ph, cat;
  std::uint32_t name = 0, pid = 0, tid = 0;
  std::int64_t ts = 0, dur = 0;
  const auto first = static_cast<std::uint32_t>(columns.arguments.size());
  for (auto member : event) {
    const std::string_view key = member.unescaped_key();
    ondemand::value value = member.value();
    if (key == "ph")
      ph = value.get_string();
    else if (key == "cat")
      cat = value.get_string();
    else if (key == "name")
      name = columns.strings.id(value.get_string());
    else if (key == "pid")
      pid = columns.strings.id(raw(value));
    else if (key == "tid")
      tid = columns.strings.id(raw(value));
    else if (key == "ts")
      ts = to_ns(raw(value));
    else if (key == "dur")
      dur = to_ns(raw(value));
    else if (key == "args")
      read_arguments(value.get_object(), columns);
    else
      columns.arguments.push_back({columns.strings.id(key), columns.strings.id(raw(value)), 0});
  }
  const std::uint32_t kind = kind_of(ph, cat, columns);
  ++columns.totals[kind].events;
  columns.totals[kind].time_ns += dur;
  columns.kind.push_back(kind);
  columns.name.push_back(name);
  columns.pid.push_back(pid);
  columns.tid.push_back(tid);
  columns.first_argument.push_back(first);
  columns.ts_ns.push_back(ts);
  columns.dur_ns.push_back(dur);
}

void add_answer(const Columns& columns, Answer& answer) {
  for (const Total& total : columns.totals) {
    auto& sum = answer[{total.ph, total.cat}];
    sum.first += total.events;
    sum.second += total.time_ns;
  }
}

// ---- whole

Answer read_whole(const char* path) {
  const simdjson::padded_string json = simdjson::padded_string::load(path);
  ondemand::parser parser;
  ondemand::document document = parser.iterate(json);
  Columns columns;
  for (ondemand::object event : document["traceEvents"].get_array()) read_event(event, columns);
  Answer answer;
  add_answer(columns, answer);
  return answer;
}

// ---- chunked

class File {
 public:
  explicit File(const char* path) : descriptor_(open(path, O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error("cannot open the file");
    size_ = static_cast<std::size_t>(lseek(descriptor_, 0, SEEK_END));
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(descriptor_); }

  std::size_t size() const { return size_; }

  // Appends up to `count` bytes from `offset` to `out`.
  void read(std::size_t offset, std::size_t count, std::string& out) const {
    const std::size_t wanted = offset >= size_ ? 0 : std::min(count, size_ - offset);
    const std::size_t before = out.size();
    out.resize(before + wanted);
    std::size_t got = 0;
    while (got < wanted) {
      const ssize_t n = pread(descriptor_, out.data() + before + got, wanted - got, static_cast<off_t>(offset + got));
      if (n <= 0) throw std::runtime_error("cannot read the file");
      got += static_cast<std::size_t>(n);
    }
  }

 private:
  int descriptor_;
  std::size_t size_ = 0;
};

// Position after the bracket that closes the one at text[from].
std::size_t after_closing(std::string_view text, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1U : 0U;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  throw std::runtime_error("unbalanced brackets");
}

struct Layout {
  std::size_t first_event;  // offset in the file
  std::string separator;    // from the } of one event to the first quote of the next
};

Layout learn(const File& file) {
  std::string head;
  file.read(0, std::size_t{1} << 20, head);
  const std::size_t key = head.find("\"traceEvents\"");
  if (key == std::string::npos) throw std::runtime_error("no traceEvents near the start");
  const std::size_t first = head.find('{', head.find('[', key));
  const std::size_t end = after_closing(head, first);
  const std::size_t quote = head.find('"', end);
  return {first, head.substr(end - 1, quote - end + 1)};
}

constexpr std::size_t kUnit = std::size_t{256} << 10;

// The events that start in unit `unit` of the file as a JSON array in `out`; false when there are none.
bool cut_unit(const File& file, const Layout& layout, std::size_t unit, std::string& out) {
  const std::size_t begin = layout.first_event + unit * kUnit;
  const std::string& separator = layout.separator;
  const std::size_t in_separator = separator.find('{');
  out.clear();
  file.read(begin, kUnit + separator.size(), out);
  std::size_t from = 0;
  if (unit > 0) {
    const std::size_t at = out.find(separator);
    if (at >= kUnit) return false;  // one event spans the unit, or the events ended before
    from = at + in_separator;
  }
  std::size_t to = std::string::npos;
  for (std::size_t search = kUnit; to == std::string::npos;) {
    to = out.find(separator, search);
    if (to != std::string::npos) break;
    if (begin + out.size() >= file.size()) {  // the last unit: up to the ] of traceEvents
      out.erase(0, from);
      out.insert(out.begin(), '[');
      out.resize(after_closing(out, 0));
      return true;
    }
    search = out.size() > separator.size() ? out.size() - separator.size() : 0;
    search = std::max(search, kUnit);
    file.read(begin + out.size(), kUnit / 4, out);
  }
  out.resize(to + 1);
  out.push_back(']');
  out.erase(0, from);
  out.insert(out.begin(), '[');
  return true;
}

void read_units(const File& file, const Layout& layout, std::atomic<std::size_t>& next, Columns& columns) {
  ondemand::parser parser;
  std::string text;
  while (true) {
    const std::size_t unit = next.fetch_add(1);
    if (layout.first_event + unit * kUnit >= file.size()) return;
    if (!cut_unit(file, layout, unit, text)) continue;
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    ondemand::document document = parser.iterate(text.data(), text.size(), text.capacity());
    for (ondemand::object event : document.get_array()) read_event(event, columns);
  }
}

Answer read_chunked(const char* path, unsigned threads) {
  const File file(path);
  const Layout layout = learn(file);
  std::vector<Columns> columns(threads);
  std::vector<std::string> errors(threads);
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> workers;
  workers.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      try {
        read_units(file, layout, next, columns[i]);
      } catch (const std::exception& error) {
        errors[i] = error.what();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (const std::string& error : errors) {
    if (!error.empty()) throw std::runtime_error(error);
  }
  Answer answer;
  for (const Columns& part : columns) add_answer(part, answer);
  return answer;
}

void print(const Answer& answer) {
  std::int64_t events = 0;
  for (const auto& [key, total] : answer) events += total.first;
  std::printf("{\"events\": %lld, \"categories\": [", static_cast<long long>(events));
  const char* separator = "";
  for (const auto& [key, total] : answer) {
    std::printf("%s[\"%s\", \"%s\", %lld, %lld]", separator, key.first.c_str(), key.second.c_str(),
                static_cast<long long>(total.first), static_cast<long long>(total.second));
    separator = ", ";
  }
  std::puts("]}");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 2 ? argv[1] : "";
  try {
    if (mode == "whole")
      print(read_whole(argv[2]));
    else if (mode == "chunked")
      print(read_chunked(argv[2], argc > 3 ? static_cast<unsigned>(std::stoul(argv[3])) : 1));
    else
      throw std::runtime_error("usage: simdjson_reader whole FILE | chunked FILE THREADS");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simdjson_reader: %s\n", error.what());
    return 1;
  }
}
