// make_trace: writes a valid trace of any size by repeating the events of real ones, round after round.
//
//   make_trace --size 1G [--layout native|oneline|indent2|keyline] [--whole] [--since-1970] TRACE.json... > OUT.json
//
// It ends behind the event that reaches the size, or with --whole behind the round: traces of different sizes then hold the
// same mix of events.
//
// Every copy of a trace gets a slot of time of its own and ids of its own: ts is shifted by whole microseconds (its fraction
// stays as written), and External id, correlation, flow ids, Ev Idx, Python ids, sequence numbers and the N of ProfilerStep#N
// by a stride above any value in the inputs, so links stay inside a copy. Metadata events (ph M) are written once per input.
// The keys around traceEvents are those of the first input. With --since-1970 times have the 16 digits that profilers wrote
// before PyTorch 2.4.
//
// How: each input is tokenised once, laid out once, and cut into literal text and numbers to shift (a Template). A copy is then
// a run of memcpy and integer prints. The inputs must be valid JSON; the output then is too.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

enum class Layout : std::uint8_t { native, oneline, indent2, keyline };

// What a number is shifted by in each copy; `none` marks plain text.
enum class Shift : std::uint8_t { none, time_us, external, correlation, flow, event_index, python, sequence, step, count };

struct Key {
  std::string_view name;
  Shift shift;
};

constexpr std::array kArgumentKeys = {
    Key{"External id", Shift::external},    Key{"External Id", Shift::external},
    Key{"correlation", Shift::correlation}, Key{"wait_on_cuda_event_record_corr_id", Shift::correlation},
    Key{"Ev Idx", Shift::event_index},      Key{"Python id", Shift::python},
    Key{"Python parent id", Shift::python}, Key{"Sequence number", Shift::sequence},
};

// ---- tokens

struct Token {
  char kind;                // one of {}[]:, or 's' string, 'n' anything else (a number, true, false, null)
  std::string_view before;  // white space in front of it
  std::string_view text;
};

[[noreturn]] void die(const std::string& message) { throw std::runtime_error(message); }

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  bool at_end() const { return peek_position() == text_.size(); }

  Token next() {
    const std::size_t start = position_;
    position_ = peek_position();
    if (position_ == text_.size()) die("the input ends too early");
    const std::string_view before = text_.substr(start, position_ - start);
    const std::size_t first = position_;
    const char c = text_[position_++];
    char kind = c;
    if (c == '"') {
      kind = 's';
      while (position_ < text_.size() && text_[position_] != '"') position_ += text_[position_] == '\\' ? 2U : 1U;
      ++position_;
    } else if (std::string_view("{}[]:,").find(c) == std::string_view::npos) {
      kind = 'n';
      while (position_ < text_.size() && !is_space(text_[position_]) &&
             std::string_view("{}[]:,\"").find(text_[position_]) == std::string_view::npos) {
        ++position_;
      }
    }
    if (position_ > text_.size()) die("the input ends inside a string");
    return {kind, before, text_.substr(first, position_ - first)};
  }

 private:
  std::size_t peek_position() const {
    std::size_t at = position_;
    while (at < text_.size() && is_space(text_[at])) ++at;
    return at;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

// ---- layout

// Lays tokens out one after another. Copyable: a copy continues from the same depth.
class Writer {
 public:
  explicit Writer(Layout layout) : layout_(layout) {}

  // The white space that belongs before the token.
  void space(const Token& token, std::string& out) {
    switch (layout_) {
      case Layout::native: out += token.before; break;
      case Layout::oneline:
        if (after_ == ',' || after_ == ':') out += ' ';
        break;
      case Layout::indent2: indent_all(token, out); break;
      case Layout::keyline: indent_keys(token, out); break;
    }
  }

  void advance(const Token& token) {
    if (token.kind == '{' || token.kind == '[') open_.push_back(token.kind);
    if ((token.kind == '}' || token.kind == ']') && !open_.empty()) open_.pop_back();
    after_ = token.kind;
  }

 private:
  void line(std::size_t depth, std::string& out) const {
    out += '\n';
    out.append(2 * depth, ' ');
  }

  static bool closes(const Token& token) { return token.kind == '}' || token.kind == ']'; }

  // As Python's json.dump(indent=2).
  void indent_all(const Token& token, std::string& out) const {
    const bool was_open = after_ == '{' || after_ == '[';
    if (after_ == ':') out += ' ';
    if (closes(token) && !was_open) line(open_.size() - 1, out);
    if (!closes(token) && (was_open || after_ == ',')) line(open_.size(), out);
  }

  // As newer Kineto: one key per line, arrays on one line (but traceEvents), a lone comma before args.
  void indent_keys(const Token& token, std::string& out) const {
    const bool in_object = !open_.empty() && open_.back() == '{';
    const bool in_events = open_.size() == 2 && open_.back() == '[';
    const bool lines = in_object || in_events;
    const bool was_open = after_ == '{' || after_ == '[';
    if (token.text == "\"args\"" && open_.size() == 3 && after_ == ',') {
      out.pop_back();
      line(open_.size(), out);
      out += ',';
      line(open_.size(), out);
    } else if (after_ == ':') {
      out += ' ';
    } else if (closes(token)) {
      if (lines && !was_open) line(open_.size() - 1, out);
    } else if (after_ == ',' || was_open) {
      if (lines)
        line(open_.size(), out);
      else if (after_ == ',')
        out += ' ';
    }
  }

  Layout layout_;
  std::string open_;  // the brackets that are open, outermost first
  char after_ = 0;    // kind of the token before
};

// ---- templates

// Literal text up to `end`, then, unless shift is none, the number `value` shifted.
struct Segment {
  std::uint32_t end;
  Shift shift;
  std::int64_t value;
};

struct Event {
  std::uint32_t first_segment;
  bool metadata;  // ph M
};

// One input, laid out. Segments tile `text` in order; event i owns segments [first_segment of i, first_segment of i+1).
struct Template {
  std::string head;  // up to and with the [ of traceEvents
  std::string text;
  std::string tail;  // from the ]
  std::vector<Segment> segments;
  std::vector<Event> events;
  std::int64_t first_us = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_us = 0;
};

std::string_view unquoted(std::string_view text) { return text.substr(1, text.size() - 2); }

bool parse_integer(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

class Loader {
 public:
  Loader(std::string_view text, Layout layout) : tokens_(text), writer_(layout), layout_(layout) {}

  Template load() {
    read_head();
    const Writer at_event = writer_;
    for (Token token = tokens_.next(); token.kind != ']'; token = tokens_.next()) {
      if (token.kind == ',') token = tokens_.next();
      writer_ = at_event;
      read_event(token);
    }
    close_segment(Shift::none, 0);
    result_.tail = layout_ == Layout::oneline ? "]" : "\n  ]";
    writer_.advance({',', {}, {}});
    read_tail();
    if (result_.events.empty()) die("no events");
    return std::move(result_);
  }

 private:
  void emit(const Token& token, std::string& out) {
    writer_.space(token, out);
    out += token.text;
    writer_.advance(token);
  }

  void read_head() {
    Token token = tokens_.next();
    if (token.kind != '{') die("not an object");
    emit(token, result_.head);
    bool found = false;
    int depth = 1;
    while (!(found && token.kind == '[')) {
      token = tokens_.next();
      if (token.kind == '{' || token.kind == '[') ++depth;
      if (token.kind == '}' || token.kind == ']') --depth;
      emit(token, result_.head);
      if (depth == 1 && token.kind == 's' && token.text == "\"traceEvents\"") found = true;
    }
  }

  void read_tail() {
    while (!tokens_.at_end()) {
      const Token token = tokens_.next();
      if (layout_ == Layout::native)
        result_.tail += token.before;
      else if (token.kind == '}')
        result_.tail += layout_ == Layout::oneline ? "" : "\n";
      else if (token.kind == 's' && result_.tail.back() == ',')
        result_.tail += layout_ == Layout::oneline ? " " : "\n  ";
      else if (result_.tail.back() == ':')
        result_.tail += ' ';
      result_.tail += token.text;
    }
    result_.tail += '\n';
  }

  // Ends the literal text here; the number that follows in every copy is `value` shifted.
  void close_segment(Shift shift, std::int64_t value) {
    result_.segments.push_back({static_cast<std::uint32_t>(result_.text.size()), shift, value});
  }

  void read_event(Token token) {
    if (!result_.events.empty()) close_segment(Shift::none, 0);
    result_.events.push_back({static_cast<std::uint32_t>(result_.segments.size()), false});
    phase_ = 0;
    ts_us_ = -1;
    dur_us_ = 0;
    key_ = {};
    int depth = 0;
    bool is_key = false;
    bool in_args = false;
    while (true) {
      if (token.kind == '}' || token.kind == ']') --depth;
      const bool names_member = token.kind == 's' && is_key;
      if (names_member && depth == 1) in_args = token.text == "\"args\"";
      if (names_member) key_ = unquoted(token.text);
      const bool is_value = (token.kind == 's' && !is_key) || token.kind == 'n';
      if (!(is_value && write_value(token, depth, in_args))) emit(token, result_.text);
      if (token.kind == '{' || token.kind == '[') {
        ++depth;
        brackets_.push_back(token.kind);
      }
      if (token.kind == '}' || token.kind == ']') brackets_.pop_back();
      if (depth == 0) break;
      is_key = brackets_.back() == '{' && (token.kind == '{' || token.kind == ',');
      token = tokens_.next();
    }
    note_event();
  }

  void note_event() {
    result_.events.back().metadata = phase_ == 'M';
    if (phase_ == 'M' || ts_us_ <= 0) return;
    result_.first_us = std::min(result_.first_us, ts_us_);
    result_.last_us = std::max(result_.last_us, ts_us_ + dur_us_ + 1);
  }

  // Writes a value of the event that must be known or shifted; false: it is plain text.
  bool write_value(const Token& token, int depth, bool in_args) {
    if (depth == 1) return write_member(token);
    if (depth == 2 && in_args && token.kind == 'n' && brackets_.back() == '{') {
      for (const Key& key : kArgumentKeys) {
        if (key.name == key_) return write_shifted(token, key.shift, 0);
      }
    }
    return false;
  }

  bool write_member(const Token& token) {
    constexpr std::string_view step = "\"ProfilerStep#";
    if (key_ == "ph") phase_ = token.text.size() == 3 ? token.text[1] : '?';
    if (key_ == "name" && token.text.starts_with(step)) return write_shifted(token, Shift::step, step.size());
    if (key_ == "id" && token.kind == 'n') return write_shifted(token, Shift::flow, 0);
    if (key_ == "dur" && token.kind == 'n') parse_integer(token.text.substr(0, token.text.find('.')), dur_us_);
    if (key_ != "ts" || token.kind != 'n') return false;
    parse_integer(token.text.substr(0, token.text.find('.')), ts_us_);
    return write_shifted(token, Shift::time_us, 0);
  }

  // Digits of the token from `from` become a shifted number, the rest of it stays text. Links of 0 and times of 0 mean "none".
  bool write_shifted(const Token& token, Shift shift, std::size_t from) {
    const std::string_view digits = token.text.substr(from, token.text.find_first_not_of("0123456789", from) - from);
    std::int64_t value = 0;
    const bool zero_is_none = shift == Shift::external || shift == Shift::correlation || shift == Shift::time_us;
    if (!parse_integer(digits, value) || (value == 0 && zero_is_none)) return false;
    writer_.space(token, result_.text);
    result_.text += token.text.substr(0, from);
    close_segment(shift, value);
    result_.text += token.text.substr(from + digits.size());
    writer_.advance(token);
    return true;
  }

  Tokenizer tokens_;
  Writer writer_;
  Layout layout_;
  Template result_;
  std::string brackets_;
  std::string_view key_;
  char phase_ = 0;
  std::int64_t ts_us_ = -1;
  std::int64_t dur_us_ = 0;
};

// ---- output

using Shifts = std::array<std::int64_t, static_cast<std::size_t>(Shift::count)>;

class Output {
 public:
  void text(std::string_view text) {
    if (used_ + text.size() > buffer_.size()) flush();
    if (text.size() > buffer_.size()) {
      write(text.data(), text.size());
    } else {
      std::memcpy(buffer_.data() + used_, text.data(), text.size());
      used_ += text.size();
    }
    total_ += text.size();
  }

  void number(std::int64_t value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  void flush() {
    write(buffer_.data(), used_);
    used_ = 0;
    if (std::fflush(stdout) != 0) die("cannot write");
  }

  std::uint64_t total() const { return total_; }

 private:
  static void write(const char* data, std::size_t size) {
    if (std::fwrite(data, 1, size, stdout) != size) die("cannot write");
  }

  std::vector<char> buffer_ = std::vector<char>(1 << 20);
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

class Generator {
 public:
  Generator(std::vector<Template> inputs, Layout layout, bool since_1970) : inputs_(std::move(inputs)), layout_(layout) {
    stride_.fill(1);
    for (const Template& input : inputs_) {
      for (const Segment& segment : input.segments) {
        std::int64_t& stride = stride_[static_cast<std::size_t>(segment.shift)];
        stride = std::max(stride, segment.value + 1);
      }
    }
    constexpr std::int64_t kYear2023 = 1'682'725'898'126'822;
    next_us_ = since_1970 ? kYear2023 : inputs_.front().first_us;
  }

  // Whole events until at least `size` bytes are written, or whole rounds; every input at least begins.
  void run(std::uint64_t size, bool whole_rounds, Output& out) {
    const std::string& tail = inputs_.front().tail;
    const std::uint64_t end = whole_rounds ? UINT64_MAX : size > tail.size() ? size - tail.size() : 0;
    out.text(inputs_.front().head);
    for (std::int64_t round = 0; round == 0 || out.total() + tail.size() < size; ++round) {
      for (const Template& input : inputs_) {
        copy(input, round == 0, end, out);
      }
    }
    out.text(tail);
    out.flush();
  }

 private:
  void copy(const Template& input, bool first_round, std::uint64_t end_bytes, Output& out) {
    Shifts shifts;
    for (std::size_t i = 0; i < shifts.size(); ++i) shifts[i] = stride_[i] * copies_;
    shifts[static_cast<std::size_t>(Shift::time_us)] = next_us_ - input.first_us;
    for (std::size_t i = 0; i < input.events.size(); ++i) {
      const Event& event = input.events[i];
      if (event.metadata && !first_round) continue;
      if (written_ > 0 && out.total() >= end_bytes) return;
      separator(out);
      const std::size_t end = i + 1 < input.events.size() ? input.events[i + 1].first_segment : input.segments.size();
      write(input, event.first_segment, end, shifts, out);
      ++written_;
    }
    ++copies_;
    next_us_ += input.last_us - input.first_us + 1000;
  }

  void separator(Output& out) const {
    // The line break in front of an event is part of its text.
    if (written_ > 0) out.text(layout_ == Layout::oneline ? ", " : ",");
  }

  static void write(const Template& input, std::size_t first, std::size_t end, const Shifts& shifts, Output& out) {
    std::uint32_t from = first == 0 ? 0 : input.segments[first - 1].end;
    for (std::size_t i = first; i < end; ++i) {
      const Segment& segment = input.segments[i];
      out.text(std::string_view(input.text).substr(from, segment.end - from));
      if (segment.shift != Shift::none) out.number(segment.value + shifts[static_cast<std::size_t>(segment.shift)]);
      from = segment.end;
    }
  }

  std::vector<Template> inputs_;
  Layout layout_;
  Shifts stride_{};
  std::int64_t copies_ = 0;
  std::uint64_t written_ = 0;
  std::int64_t next_us_ = 0;
};

// ---- command line

std::uint64_t parse_size(const std::string& text) {
  std::size_t used = 0;
  const double number = std::stod(text, &used);
  const std::string unit = text.substr(used);
  if (unit.empty()) return static_cast<std::uint64_t>(number);
  if (unit == "K") return static_cast<std::uint64_t>(number * 1e3);
  if (unit == "M") return static_cast<std::uint64_t>(number * 1e6);
  if (unit == "G") return static_cast<std::uint64_t>(number * 1e9);
  die("a size is a number with K, M or G (powers of 1000): " + text);
}

Layout parse_layout(const std::string& text) {
  if (text == "native") return Layout::native;
  if (text == "oneline") return Layout::oneline;
  if (text == "indent2") return Layout::indent2;
  if (text == "keyline") return Layout::keyline;
  die("layouts are native, oneline, indent2 and keyline, not " + text);
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) die("cannot open it");
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

Template load(const std::string& path, Layout layout) {
  try {
    const std::string text = contents(path);
    return Loader(text, layout).load();
  } catch (const std::exception& error) {
    die(path + ": " + error.what());
  }
}

void run(std::span<char*> arguments) {
  std::uint64_t size = 0;
  Layout layout = Layout::native;
  bool whole_rounds = false, since_1970 = false;
  std::vector<std::string> paths;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string argument = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (argument == "--size" && has_value)
      size = parse_size(arguments[++i]);
    else if (argument == "--layout" && has_value)
      layout = parse_layout(arguments[++i]);
    else if (argument == "--whole")
      whole_rounds = true;
    else if (argument == "--since-1970")
      since_1970 = true;
    else if (argument.starts_with("--"))
      die("unknown flag " + argument);
    else
      paths.push_back(argument);
  }
  if (paths.empty() || size == 0) {
    die("usage: make_trace --size 1G [--layout native|oneline|indent2|keyline] [--whole] [--since-1970] TRACE.json...");
  }
  std::vector<Template> inputs;
  inputs.reserve(paths.size());
  for (const std::string& path : paths) inputs.push_back(load(path, layout));
  Output out;
  Generator(std::move(inputs), layout, since_1970).run(size, whole_rounds, out);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "make_trace: " << error.what() << '\n';
    return 1;
  }
}
