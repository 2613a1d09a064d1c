// Parsing index expressions, and counting what their terms reach.
#include "cost/triton/kernel_source_index.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace ridge {
namespace {

constexpr int kMostNesting = 40;
constexpr std::size_t kMostTerms = 64;
constexpr double kSector = 64;  // two sectors of the cache: what one lonely access costs by the counters

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

IndexExpression unknown() { return {.terms = {}, .constant = 0, .known = false}; }

void add_term(IndexExpression* sum, IndexTerm term) {
  const auto same =
      std::find_if(sum->terms.begin(), sum->terms.end(), [&](const IndexTerm& t) { return t.variable == term.variable; });
  if (same != sum->terms.end()) {
    same->stride += term.stride;
  } else if (sum->terms.size() < kMostTerms) {
    sum->terms.push_back(std::move(term));
  } else {
    sum->known = false;
  }
}

IndexExpression plus(IndexExpression a, const IndexExpression& b, double sign) {
  if (!a.known || !b.known) return unknown();
  a.constant += sign * b.constant;
  for (IndexTerm term : b.terms) {
    term.stride *= sign;
    add_term(&a, std::move(term));
  }
  return a;
}

IndexExpression times(const IndexExpression& a, const IndexExpression& b) {
  if (!a.known || !b.known || (!a.is_constant() && !b.is_constant())) return unknown();
  IndexExpression out = a.is_constant() ? b : a;
  const double factor = a.is_constant() ? a.constant : b.constant;
  out.constant *= factor;
  for (IndexTerm& term : out.terms) term.stride *= factor;
  return out;
}

// Greatest value + 1 of an expression that is never negative.
double range(const IndexExpression& e) {
  double top = e.constant;
  for (const IndexTerm& t : e.terms) top += std::max(0.0, t.stride * (t.extent - 1));
  return std::max(top + 1, 1.0);
}

bool indirect(const IndexExpression& e) {
  return std::any_of(e.terms.begin(), e.terms.end(), [](const IndexTerm& t) { return t.extent == 0; });
}

// a // b and a % b by a constant: a new variable of its own, named by the text.
IndexExpression divided(const IndexExpression& a, const IndexExpression& b, bool remainder, std::string_view text) {
  if (!a.known || !b.is_constant() || b.constant < 1) return unknown();
  if (a.is_constant()) {
    const double q = std::floor(a.constant / b.constant);
    return {.terms = {}, .constant = remainder ? a.constant - q * b.constant : q};
  }
  const double r = range(a);
  const double extent = indirect(a) ? 0 : remainder ? std::min(r, b.constant) : std::ceil(r / b.constant);
  return {.terms = {{std::string(text), extent, 1}}, .constant = 0};
}

class Parser {
 public:
  Parser(std::string_view text, const IndexNames& names) : text_(text), names_(names) {}

  IndexExpression sum() {
    if (++nesting_ > kMostNesting) return unknown();
    IndexExpression value = product();
    for (char op = peek(); op == '+' || op == '-'; op = peek()) {
      ++at_;
      value = plus(std::move(value), product(), op == '+' ? 1 : -1);
    }
    --nesting_;
    return value;
  }

  std::size_t at() const { return at_; }
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

 private:
  IndexExpression product() {
    const std::size_t start = (peek(), at_);
    IndexExpression value = factor();
    for (char op = peek(); op == '*' || op == '%' || op == '/'; op = peek()) {
      const bool floor = text_.substr(at_).starts_with("//");
      if ((op == '/' && !floor) || text_.substr(at_).starts_with("**")) return unknown();
      at_ += floor ? 2 : 1;
      const IndexExpression other = factor();
      value = op == '*' ? times(value, other) : divided(value, other, op == '%', text_.substr(start, at_ - start));
    }
    return value;
  }

  IndexExpression factor() {
    if (++nesting_ > kMostNesting) return unknown();
    IndexExpression value = unknown();
    const char c = peek();
    if (c == '-') {
      ++at_;
      value = times({.terms = {}, .constant = -1}, factor());
    } else if (c == '(') {
      ++at_;
      value = sum();
      if (peek() == ')')
        ++at_;
      else
        value = unknown();
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      value = number();
    } else if (is_name(c)) {
      value = name();
    }
    value = suffixes(std::move(value));
    --nesting_;
    return value;
  }

  IndexExpression number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value, std::chars_format::fixed);
    at_ = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc() || std::abs(value) > 1e18) return unknown();
    return {.terms = {}, .constant = value};
  }

  // A name, or a call: of one that only spreads or converts its first argument.
  IndexExpression name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_name(text_[at_]) || text_[at_] == '.')) ++at_;
    std::string_view name = text_.substr(start, at_ - start);
    const std::size_t dot = name.find('.');
    if (at_ < text_.size() && text_[at_] == '(' &&
        (name == "tl.broadcast_to" || dot == std::string_view::npos || name.starts_with("tl."))) {
      ++at_;
      IndexExpression first = sum();
      close();
      return name == "tl.broadcast_to" ? first : unknown();
    }
    if (dot != std::string_view::npos) {  // x0.to(tl.int64): the suffix is read again
      at_ = start + dot;
      name = name.substr(0, dot);
    }
    if (name.starts_with("tmp")) return {.terms = {{std::string(name), 0, 1}}, .constant = 0};
    const auto found = names_.find(std::string(name));
    return found != names_.end() ? found->second : unknown();
  }

  // [None, :] and .to(tl.int64) change no value.
  IndexExpression suffixes(IndexExpression value) {
    for (;;) {
      if (at_ < text_.size() && text_[at_] == '[') {
        ++at_;
        close();
      } else if (text_.substr(std::min(at_, text_.size())).starts_with(".to(")) {
        at_ += 4;
        close();
      } else {
        return value;
      }
    }
  }

  // Past the bracket that closes the one just opened.
  void close() {
    for (int open = 1; at_ < text_.size() && open > 0; ++at_) {
      const char c = text_[at_];
      if (c == '(' || c == '[') ++open;
      if (c == ')' || c == ']') --open;
    }
  }

  std::string_view text_;
  const IndexNames& names_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

// Terms that move, the closest first.
std::vector<IndexTerm> moving(const IndexExpression& index) {
  std::vector<IndexTerm> out;
  for (IndexTerm term : index.terms) {
    term.stride = std::abs(term.stride);
    if (term.stride > 0 && (term.extent > 1 || term.extent == 0)) out.push_back(term);
  }
  std::sort(out.begin(), out.end(), [](const IndexTerm& a, const IndexTerm& b) { return a.stride < b.stride; });
  return out;
}

double sectors(double bytes) { return std::ceil(bytes / kSector) * kSector; }

// Bytes of the places that direct terms reach.
double direct_bytes(const std::vector<IndexTerm>& terms, double item) {
  double run = item, runs = 1, span = item;
  for (const IndexTerm& term : terms) {
    const double step = term.stride * item;
    span += step * (term.extent - 1);
    const bool joins = runs == 1 && step <= std::max(sectors(run), kSector);
    if (joins)
      run += step * (term.extent - 1);
    else
      runs *= term.extent;
  }
  return std::min(runs == 1 ? run : runs * sectors(run), span);
}

}  // namespace

IndexExpression parse_index(std::string_view text, const IndexNames& names, std::size_t* used) {
  Parser parser(text, names);
  IndexExpression value = parser.sum();
  parser.peek();
  if (used != nullptr) *used = parser.at();
  return value;
}

double reached_bytes(const IndexExpression& index, double item_bytes, double tensor_elements, double steps) {
  const double whole = tensor_elements * item_bytes;
  if (!index.known) return whole;
  std::vector<IndexTerm> terms = moving(index);
  const auto rows = std::find_if(terms.begin(), terms.end(), [](const IndexTerm& t) { return t.extent == 0; });
  if (rows == terms.end()) return std::min(direct_bytes(terms, item_bytes), whole);

  // Rows chosen by loaded values: of V rows, n draws reach V (1 - exp(-n / V)).
  const double row_stride = rows->stride;
  terms.erase(rows, terms.end());
  double row_elements = 1;
  for (const IndexTerm& t : terms) row_elements *= t.extent;
  const double count = std::max(tensor_elements / std::max(row_stride, 1.0), 1.0);
  const double draws = steps / std::max(row_elements, 1.0);
  return std::min(whole, count * -std::expm1(-draws / count) * sectors(direct_bytes(terms, item_bytes)));
}

}  // namespace ridge
