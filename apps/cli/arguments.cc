// The one file that knows CLI11. The command is found first, then one flat parser is made for it: so flags may stand anywhere,
// and a file whose name is like no command is a trace.
#include "arguments.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <ridge/argument_list.h>

#include "catalog.h"
#include "flags.h"

namespace ridge::cli {
namespace {

// A query may begin with a comment: two dashes and a space.
bool is_flag(std::string_view word) {
  const bool is_comment = word.starts_with("--") && word.substr(2).find_first_of(" \t\r\n") == 0;
  return word.size() > 1 && word.starts_with('-') && !is_comment;
}

bool names_hold(std::string_view names, std::string_view word) {
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    if (names.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

// Whether the word after this flag is its value; needed only to find the command behind flags.
bool takes_next_word(std::string_view flag) {
  const auto common = std::ranges::find_if(flags(), [&](const Flag& f) { return names_hold(f.names, flag); });
  if (common != flags().end()) return !common->value.empty();
  for (const AnalysisInfo* command : described()) {
    for (const Parameter& parameter : command->parameters) {
      if (flag == flag_of(parameter)) return parameter.type != Type::boolean;
    }
  }
  return false;
}

// The position of the first word that is no flag and no flag's value.
std::optional<std::size_t> first_word(std::span<const std::string> args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!is_flag(args[i])) return i;
    if (takes_next_word(args[i])) ++i;
  }
  return std::nullopt;
}

bool is_trace(const std::string& word) {
  std::error_code ignored;
  const bool looks_like_path = word.find_first_of("/.") != std::string::npos;
  return word == "-" || looks_like_path || std::filesystem::exists(word, ignored);
}

std::string help_hint(const AnalysisInfo* analysis) {
  return analysis != nullptr ? fmt::format("see ridge help {}", analysis->name) : "see ridge help";
}

// With the setters doing the rest, a flag without its value is what CLI11 itself has to say: "--limit: 1 required TEXT
// missing".
std::string plain_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  const bool no_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  return no_value ? fmt::format("{} needs a value", text.substr(0, text.find(':'))) : text;
}

// Flags that only the `ridge` of the Python package knows (python/ridge/_ray_command.py): it takes them before it comes here.
struct PackageFlag {
  std::string_view command;
  std::string_view flag;
  std::string_view extra;  // what to install
};
constexpr PackageFlag kPackageFlags[] = {{"ranks", "--ray", "ridge[ray]"}, {"ranks", "--ray-address", "ridge[ray]"}};

tl::unexpected<Error> unknown_flag(const std::string& word, const AnalysisInfo* analysis) {
  for (const PackageFlag& known : kPackageFlags) {
    if (analysis == nullptr || analysis->name != known.command || word.substr(0, word.find('=')) != known.flag) continue;
    return fail(ErrorCode::usage, fmt::format("{} needs the Python package", known.flag), {},
                fmt::format("pip install \"{}\" brings a ridge that has it", known.extra));
  }
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> known = flag_names(analysis);
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = help_hint(analysis);
  return fail(ErrorCode::usage, fmt::format("unknown flag {}", name), {}, std::move(hint));
}

// A wrong value is refused here, before a large trace is read, and again by the engine for every other client.
Result<void> check_value(const Parameter& parameter, const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  double number = 0;
  bool good = true;
  if (parameter.type == Type::integer) good = std::from_chars(text.data(), end, whole).ptr == end;
  if (parameter.type == Type::number) good = std::from_chars(text.data(), end, number).ptr == end;
  if (good && !text.empty()) return {};
  return fail(ErrorCode::usage, fmt::format("invalid value '{}' for {}", text, flag_of(parameter)), {},
              std::string(parameter.description));
}

// One parser for one command. The first setter that refuses its text decides the error.
class Parser {
 public:
  explicit Parser(const AnalysisInfo* analysis) : analysis_(analysis) {
    app_.set_help_flag();
    app_.allow_extras();
    for (const Flag& flag : flags()) add(flag);
    if (analysis != nullptr) {
      for (const Parameter& parameter : analysis->parameters) add(parameter);
    }
  }

  Result<Invocation> parse(std::vector<std::string> args) {
    // The parser would take the next word for the value.
    const auto bare =
        std::ranges::find_if(args, [](const std::string& w) { return w.starts_with("--") && w.find('=') == w.size() - 1; });
    if (bare != args.end() && takes_next_word(bare->substr(0, bare->size() - 1)))
      return fail(ErrorCode::usage, fmt::format("{} needs a value", bare->substr(0, bare->size() - 1)), {},
                  help_hint(analysis_));
    std::ranges::reverse(args);  // CLI11 takes them from the back
    try {
      app_.parse(args);
    } catch (const CLI::ParseError& error) {
      return fail(ErrorCode::usage, plain_words(error), {}, help_hint(analysis_));
    }
    if (!accepted_) return tl::unexpected(accepted_.error());
    for (const std::string& word : app_.remaining()) {
      if (is_flag(word)) return unknown_flag(word, analysis_);
      invocation_.words.push_back(word);
    }
    return std::move(invocation_);
  }

 private:
  void keep(Result<void> outcome) {
    if (accepted_) accepted_ = std::move(outcome);
  }

  // Set in the order in which they stand, so that the last of --json and --format wins.
  void add(const Flag& flag) {
    const std::string names(flag.names);
    if (flag.value.empty()) {
      app_.add_flag_callback(names, [this, &flag] { keep(flag.set(invocation_.settings, {})); })->trigger_on_parse();
    } else {
      const auto set = [this, &flag](const std::string& text) { keep(flag.set(invocation_.settings, text)); };
      app_.add_option_function<std::string>(names, set)->take_last()->trigger_on_parse();
    }
  }

  void add(const Parameter& parameter) {
    const std::string name(parameter.name);
    if (parameter.type == Type::boolean) {
      app_.add_flag_callback(flag_of(parameter), [this, name] { invocation_.arguments[name] = "true"; });
    } else {
      const auto set = [this, name, &parameter](const std::string& text) {
        invocation_.arguments[name] = text;
        keep(check_value(parameter, text));
      };
      CLI::Option* option = app_.add_option_function<std::string>(flag_of(parameter), set);
      parameter.repeats ? option->join(kListSeparator) : option->take_last();
    }
  }

  CLI::App app_;
  const AnalysisInfo* analysis_;
  Invocation invocation_;
  Result<void> accepted_;
};

// The first word is the analysis's operand, where it has one and its flag was not given: ridge kernel NAME TRACE. A query
// stands last, as databases have it, and may be absent: ridge sql TRACE --tables.
void take_operand(const AnalysisInfo* analysis, Invocation& invocation) {
  if (analysis == nullptr || analysis->operand.empty() || invocation.words.empty()) return;
  const bool last = operand_is_last(*analysis);
  if (last && invocation.words.size() < 2) return;
  const auto word = last ? std::prev(invocation.words.end()) : invocation.words.begin();
  const auto [it, missing] = invocation.arguments.try_emplace(std::string(analysis->operand), *word);
  if (missing) invocation.words.erase(word);
}

tl::unexpected<Error> unknown_command(const std::string& word) {
  std::string hint = did_you_mean(word, command_names());
  if (hint.empty()) hint = "ridge help lists the commands; to open a file of that name: ./" + word;
  return fail(ErrorCode::usage, fmt::format("unknown command '{}'", word), {}, std::move(hint));
}

// --help and --version win over whatever else was asked.
void redirect(Invocation& invocation, bool command_given) {
  if (invocation.settings.version) {
    invocation.command = "version";
    invocation.words.clear();
  } else if (invocation.settings.help) {
    invocation.words =
        command_given && invocation.command != "help" ? std::vector{invocation.command} : std::vector<std::string>{};
    invocation.command = "help";
  }
}

}  // namespace

Result<Invocation> parse_arguments(std::span<const std::string> args) {
  const auto separator = std::ranges::find(args, "--");
  std::vector<std::string> before(args.begin(), separator);
  const bool separated = separator != args.end();

  std::string command(default_command());
  const auto word = first_word(before);
  const bool command_given = word && is_command(before[*word]);
  if (command_given) {
    command = before[*word];
    before.erase(before.begin() + static_cast<std::ptrdiff_t>(*word));
  } else if (word && !is_trace(before[*word])) {
    return unknown_command(before[*word]);
  }

  auto invocation = Parser(describe(command)).parse(std::move(before));
  if (!invocation) return invocation;
  if (separated) invocation->words.insert(invocation->words.end(), std::next(separator), args.end());
  invocation->command = command;
  take_operand(find_analysis(command), *invocation);
  redirect(*invocation, command_given);
  return invocation;
}

}  // namespace ridge::cli
