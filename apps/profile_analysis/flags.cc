// A parser of argparse's kind: lists of values behind a flag, abbreviations, --flag=value.
#include "flags.h"

#include <charconv>

#include <fmt/format.h>

namespace ridge::profile_analysis {
namespace {

struct ListFlag {
  std::string_view name;
  std::string_view short_name;
  std::string_view values;  // for the usage text
  std::size_t count;        // how many it takes; kOneOrMore: up to the next flag
  std::vector<std::string> Flags::* into;
  std::string_view description;
};

constexpr std::size_t kOneOrMore = 0;

constexpr ListFlag kFlags[] = {
    {"--diff", "", "FILE1 NAME1 FILE2 NAME2 DTYPE", 5, &Flags::diff, "kernels of two traces, side by side"},
    {"--augment_trace", "-a", "IN OUT DTYPE", 3, &Flags::augment_trace,
     "write a copy of the trace with FLOPs and bytes in the kernels' args"},
    {"--analysis", "", "FILE DTYPE", 2, &Flags::analysis, "kernels of a trace: rates, and percent of the device's peaks"},
    {"--combine", "", "IN... OUT", kOneOrMore, &Flags::combine, "merge several traces into one"},
};
constexpr std::string_view kNameLimit = "--name_limit";

bool is_flag(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

// A flag may be shortened as long as no other begins the same way; `--flag=value` is split before.
bool means(std::string_view word, std::string_view name) {
  return word == name || (word.size() > 2 && word.starts_with("--") && name.starts_with(word));
}

tl::unexpected<Error> wrong(std::string message) { return fail(ErrorCode::usage, std::move(message), {}, usage()); }

class Words {
 public:
  explicit Words(std::span<const std::string> args) {
    for (const std::string& word : args) {
      const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
      words_.push_back(word.substr(0, equals));
      if (equals != std::string::npos) words_.push_back(word.substr(equals + 1));
    }
  }
  bool more() const { return at_ < words_.size(); }
  bool more_values() const { return more() && !is_flag(words_[at_]); }
  std::string next() { return words_[at_++]; }

 private:
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

Result<void> take_list(const ListFlag& flag, Words* words, Flags* flags) {
  std::vector<std::string>& values = flags->*flag.into;
  values.clear();
  while (words->more_values() && (flag.count == kOneOrMore || values.size() < flag.count)) values.push_back(words->next());
  if (flag.count == kOneOrMore ? !values.empty() : values.size() == flag.count) return {};
  return wrong(fmt::format("{} takes {}", flag.name, flag.values));
}

Result<void> take_name_limit(Words* words, Flags* flags) {
  const std::string text = words->more() ? words->next() : "";
  const char* end = text.data() + text.size();
  if (!text.empty() && std::from_chars(text.data(), end, flags->name_limit).ptr == end) return {};
  return wrong(fmt::format("{} takes a whole number", kNameLimit));
}

Result<void> take(const std::string& word, Words* words, Flags* flags) {
  for (const ListFlag& flag : kFlags) {
    const bool is_short = !flag.short_name.empty() && word == flag.short_name;
    // --a stands for two of them: the shorter forms that are refused by the script too.
    if (is_short || (word != "--a" && means(word, flag.name))) return take_list(flag, words, flags);
  }
  if (means(word, kNameLimit)) return take_name_limit(words, flags);
  if (word == "-h" || means(word, "--help")) {
    flags->help = true;
    return {};
  }
  return wrong(fmt::format("unrecognized argument: {}", word));
}

}  // namespace

std::string usage() {
  std::string text = "usage: profile_analysis [FLAGS]\n";
  for (const ListFlag& flag : kFlags) text += fmt::format("  {} {}\n      {}\n", flag.name, flag.values, flag.description);
  text += fmt::format("  {} N\n      characters of a kernel's name in the tables (default 40)\n", kNameLimit);
  return text;
}

Result<Flags> parse_flags(std::span<const std::string> args) {
  Flags flags;
  for (Words words(args); words.more();) {
    const auto taken = take(words.next(), &words, &flags);
    if (!taken) return tl::unexpected(taken.error());
  }
  return flags;
}

}  // namespace ridge::profile_analysis
