// Lines of words:
//   device NAME | source TEXT
//   kind NAME           what follows is of this kind
//   start X | unit X    what every prediction begins with; what a leaf's number counts, both as natural logarithms
//   ops NAME..          in the order of their codes, which are the last feature
//   cuts F X..          where trees may divide feature F
//   spread B L H N      up to a base time of 2^B ns: the logarithms between which 80 % of the measured lay, over N points
//   tree TEXT           nodes before their children: a letter for the feature and one for the cut, or '|' and two digits of a
//   leaf
// Letters and digits are kLetters, in order.
#include "predict/expected_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/lasting.h"
#include "base/try.h"
#include "predict/embedded_text.h"

namespace ridge {
namespace {

// Printable, without quotes, backslash, '|' and '#'.
constexpr std::string_view kLetters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!$%&()*+,-./:;<=>?@[]^_`{}~";

int digit(char c) {
  const std::size_t at = kLetters.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string_view next_word(std::string_view* line) {
  const std::size_t begin = std::min(line->find_first_not_of(' '), line->size());
  line->remove_prefix(begin);
  const std::string_view word = line->substr(0, line->find(' '));
  line->remove_prefix(word.size());
  return word;
}

std::optional<float> next_number(std::string_view* line) {
  const std::string_view word = next_word(line);
  float value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

class ExpectedTable::Reader {
 public:
  explicit Reader(ExpectedTable* table) : table_(*table) {}

  bool line(std::string_view line) {
    const std::string_view what = next_word(&line);
    if (what.empty() || what.front() == '#') return true;
    if (what == "device") return table_.device_ = trimmed(line), true;
    if (what == "source") return table_.source_ = trimmed(line), true;
    if (what == "kind") return table_.kinds_.emplace_back().name = std::string(next_word(&line)), true;
    if (table_.kinds_.empty()) return false;
    Kind& kind = table_.kinds_.back();
    if (what == "start") return number(&line, &kind.start);
    if (what == "unit") return number(&line, &kind.unit);
    if (what == "ops") {
      for (auto word = next_word(&line); !word.empty(); word = next_word(&line)) kind.ops.emplace_back(word);
      return true;
    }
    if (what == "cuts") return cuts(&line, &kind);
    if (what == "spread") return spread(&line, &kind);
    if (what != "tree") return false;
    kind.roots.push_back(static_cast<std::int32_t>(kind.nodes.size()));
    std::string_view text = next_word(&line);
    return node(&text, &kind, 0) && text.empty();
  }

 private:
  static constexpr int kDeepest = 32;

  static std::string trimmed(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return std::string(text);
  }
  static bool number(std::string_view* line, float* out) {
    const auto value = next_number(line);
    if (value) *out = *value;
    return value.has_value();
  }
  static bool cuts(std::string_view* line, Kind* kind) {
    const auto feature = next_number(line);
    if (!feature || *feature < 0 || *feature >= static_cast<float>(kLetters.size())) return false;
    const auto at = static_cast<std::size_t>(*feature);
    if (kind->cuts.size() <= at) kind->cuts.resize(at + 1);
    for (auto value = next_number(line); value; value = next_number(line)) kind->cuts[at].push_back(*value);
    return true;
  }
  static bool spread(std::string_view* line, Kind* kind) {
    Spread s;
    float points = 0;
    if (!number(line, &s.base_upto) || !number(line, &s.low) || !number(line, &s.high) || !number(line, &points)) return false;
    s.points = static_cast<std::int64_t>(points);
    kind->spreads.push_back(s);
    return true;
  }

  // One node and all below it.
  bool node(std::string_view* text, Kind* kind, int depth) {
    if (text->size() < 2 || depth > kDeepest) return false;
    const std::size_t at = kind->nodes.size();
    kind->nodes.emplace_back();
    if (text->front() == '|') {
      if (text->size() < 3) return false;
      const int high = digit((*text)[1]), low = digit((*text)[2]);
      text->remove_prefix(3);
      if (high < 0 || low < 0) return false;
      const auto letters = static_cast<int>(kLetters.size());
      const int middle = letters * letters / 2;
      kind->nodes[at].value = static_cast<float>(high * letters + low - middle) * kind->unit;
      return true;
    }
    const int feature = digit((*text)[0]), cut = digit((*text)[1]);
    text->remove_prefix(2);
    if (feature < 0 || cut < 0 || static_cast<std::size_t>(feature) >= kind->cuts.size()) return false;
    const std::vector<float>& cuts = kind->cuts[static_cast<std::size_t>(feature)];
    if (static_cast<std::size_t>(cut) >= cuts.size()) return false;
    kind->nodes[at].feature = feature;
    kind->nodes[at].value = cuts[static_cast<std::size_t>(cut)];
    if (!node(text, kind, depth + 1)) return false;
    kind->nodes[at].right = static_cast<std::int32_t>(kind->nodes.size());
    return node(text, kind, depth + 1);
  }

  ExpectedTable& table_;
};

Result<ExpectedTable> ExpectedTable::read(std::string_view text) {
  ExpectedTable table;
  Reader reader(&table);
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ++number;
    if (!reader.line(text.substr(0, end)))
      return fail(ErrorCode::usage, "the table of expected times has a bad line", "line " + std::to_string(number));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return table;
}

const ExpectedTable& ExpectedTable::built_in() {
  static const auto& table = lasting<ExpectedTable>([] {
    std::string text;
    for (const std::string_view piece : expected_table_text()) text += piece;
    auto read = ExpectedTable::read(text);
    return read ? std::move(*read) : ExpectedTable();  // a test reads it
  }());
  return table;
}

std::optional<ExpectedFactor> ExpectedTable::factor(const CallFeatures& call, double base_ns) const {
  const auto kind = std::ranges::find(kinds_, call.kind, &Kind::name);
  if (call.kind.empty() || kind == kinds_.end()) return std::nullopt;
  ExpectedFactor out;
  std::vector<float> values = call.values;
  const auto op = std::ranges::find(kind->ops, call.op);
  out.op_known = op != kind->ops.end() || kind->ops.empty();
  values.push_back(
      static_cast<float>(out.op_known ? op - kind->ops.begin() : static_cast<std::ptrdiff_t>(kind->ops.size() / 2)));
  double sum = kind->start;
  for (const std::int32_t root : kind->roots) {
    auto at = static_cast<std::size_t>(root);
    while (kind->nodes[at].feature >= 0) {
      const Node& node = kind->nodes[at];
      const auto feature = static_cast<std::size_t>(node.feature);
      const float value = feature < values.size() ? values[feature] : 0;
      at = value <= node.value ? at + 1 : static_cast<std::size_t>(node.right);
    }
    sum += static_cast<double>(kind->nodes[at].value);
  }
  out.factor = std::exp(sum);
  out.low = out.high = out.factor;
  const double size = std::log2(std::max(base_ns, 1.0));
  for (const Spread& spread : kind->spreads) {
    out.low = out.factor * std::exp(static_cast<double>(spread.low));
    out.high = out.factor * std::exp(static_cast<double>(spread.high));
    out.points = spread.points;
    if (size <= static_cast<double>(spread.base_upto)) break;
  }
  return out;
}

}  // namespace ridge
