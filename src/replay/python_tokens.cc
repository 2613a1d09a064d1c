// One pass over the bytes. Brackets join physical lines, as do backslashes at their ends and triple quotes.
#include "replay/python_tokens.h"

#include <array>
#include <cctype>

namespace ridge {
namespace {

bool begins_name(char c) { return (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') && (c & '\x80') == 0; }
bool goes_on_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }
bool is_newline(char c) { return c == '\n' || c == '\r'; }

constexpr std::array<std::string_view, 22> kLongOps = {"**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=",
                                                       "==",  "!=",  "->",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", ":="};
constexpr std::string_view kOps = "+-*/%@&|^~<>()[]{},:;.=!";

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : source_(source) {}

  std::vector<PythonLine> read() {
    while (at_ < source_.size()) line();
    return std::move(lines_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void newline() {
    if (peek() == '\r' && peek(1) == '\n') ++at_;
    ++at_;
    ++number_;
  }

  void line() {
    PythonLine line;
    line.begin = at_;
    line.number = number_;
    for (; peek() == ' ' || peek() == '\t' || peek() == '\f'; ++at_)
      line.indent = peek() == ' ' ? line.indent + 1 : peek() == '\t' ? (line.indent / 8 + 1) * 8 : 0;
    int depth = 0;
    while (at_ < source_.size()) {
      const char c = peek();
      if (c == '#') {
        while (at_ < source_.size() && !is_newline(peek())) ++at_;
      } else if (is_newline(c)) {
        newline();
        if (depth <= 0) break;
      } else if (c == '\\' && is_newline(peek(1))) {
        ++at_;
        newline();
      } else if (c == ' ' || c == '\t' || c == '\f') {
        ++at_;
      } else {
        const PythonToken token = next();
        if (token.kind == PythonTokenKind::op && std::string_view("([{").find(token.text[0]) != std::string_view::npos) ++depth;
        if (token.kind == PythonTokenKind::op && std::string_view(")]}").find(token.text[0]) != std::string_view::npos) --depth;
        line.tokens.push_back(token);
      }
    }
    line.end = at_;
    if (!line.tokens.empty()) lines_.push_back(std::move(line));
  }

  PythonToken token(PythonTokenKind kind, std::size_t begin) const { return {kind, source_.substr(begin, at_ - begin), begin}; }

  PythonToken next() {
    const std::size_t begin = at_;
    if (begins_name(peek())) {
      while (goes_on_name(peek())) ++at_;
      const bool prefix = at_ - begin <= 2 && (peek() == '\'' || peek() == '"');
      return prefix ? string(begin) : token(PythonTokenKind::name, begin);
    }
    if (peek() == '\'' || peek() == '"') return string(begin);
    if (std::isdigit(static_cast<unsigned char>(peek())) != 0 ||
        (peek() == '.' && std::isdigit(static_cast<unsigned char>(peek(1))) != 0)) {
      number();
      return token(PythonTokenKind::number, begin);
    }
    for (const std::string_view op : kLongOps) {
      if (source_.substr(at_).starts_with(op)) {
        at_ += op.size();
        return token(PythonTokenKind::op, begin);
      }
    }
    const bool known = kOps.find(peek()) != std::string_view::npos && peek() != '\0';
    ++at_;
    return token(known ? PythonTokenKind::op : PythonTokenKind::other, begin);
  }

  void number() {
    while (goes_on_name(peek()) || peek() == '.' ||
           ((peek() == '+' || peek() == '-') && (source_[at_ - 1] == 'e' || source_[at_ - 1] == 'E')))
      ++at_;
  }

  // From the opening quote; one that has no end reaches to the end of the text, and is no string.
  PythonToken string(std::size_t begin) {
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const std::size_t quotes = triple ? 3 : 1;
    at_ += quotes;
    while (at_ < source_.size()) {
      if (peek() == '\\' && at_ + 1 < source_.size()) {
        ++at_;
        if (is_newline(peek()))
          newline();
        else
          ++at_;
      } else if (peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += quotes;
        return token(PythonTokenKind::string, begin);
      } else if (is_newline(peek())) {
        if (!triple) return token(PythonTokenKind::other, begin);
        newline();
      } else {
        ++at_;
      }
    }
    return token(PythonTokenKind::other, begin);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t number_ = 1;
  std::vector<PythonLine> lines_;
};

}  // namespace

std::vector<PythonLine> python_lines(std::string_view source) { return Tokenizer(source).read(); }

bool is_op(const PythonToken& token, std::string_view op) { return token.kind == PythonTokenKind::op && token.text == op; }
bool is_word(const PythonToken& token, std::string_view word) {
  return token.kind == PythonTokenKind::name && token.text == word;
}

bool python_string_value(const PythonToken& token, std::string* value) {
  if (token.kind != PythonTokenKind::string) return false;
  const std::size_t open = token.text.find_first_of("'\"");
  const std::string_view prefix = token.text.substr(0, open);
  const bool raw = prefix == "r" || prefix == "R";
  if (!prefix.empty() && !raw && prefix != "u" && prefix != "U") return false;
  const std::string_view quoted_text = token.text.substr(open);
  const bool triple = quoted_text.size() >= 6 && quoted_text[1] == quoted_text[0] && quoted_text[2] == quoted_text[0];
  const std::size_t quotes = triple ? 3 : 1;
  const std::string_view inner = quoted_text.substr(quotes, quoted_text.size() - 2 * quotes);
  value->clear();
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\' || raw || i + 1 == inner.size()) {
      *value += inner[i];
      continue;
    }
    switch (inner[++i]) {
      case '\\': *value += '\\'; break;
      case '\'': *value += '\''; break;
      case '"': *value += '"'; break;
      case 'n': *value += '\n'; break;
      case 't': *value += '\t'; break;
      case '\n': break;
      default: return false;  // octal, hexadecimal, named characters: nothing that a generated kernel has
    }
  }
  return true;
}

}  // namespace ridge
