// Every column of the tables of events, on real traces, against what the plain reader finds in the JSON.
#include "trace/schema/schema.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "differential/plain_reader.h"
#include "support/files.h"
#include "support/schema_values.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

// Members of an event as "type:value"; those of `args` by their key, others with a dot before it.
using PlainValues = std::map<std::string, std::string>;

std::vector<PlainValues> plain_values(const std::string& json) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(json);
  simdjson::ondemand::document document = parser.iterate(padded);
  std::vector<PlainValues> all;
  for (auto element : document["traceEvents"].get_array()) {
    PlainValues& values = all.emplace_back();
    for (auto field : element.get_object()) {
      const std::string key(std::string_view(field.unescaped_key()));
      plain::Value value = field.value();
      if (key == "ts" || key == "dur") {
        values["." + key] = "int:" + std::to_string(plain::time_ns(plain::trim(value.raw_json_token())));
      } else if (key == "args" && value.type() == simdjson::ondemand::json_type::object) {
        for (auto argument : value.get_object()) {
          const std::string name(std::string_view(argument.unescaped_key()));
          values[name] = plain::argument(argument.value());
        }
      } else {
        values["." + key] = plain::argument(value);
      }
    }
  }
  return all;
}

// What follows one of the prefixes; nothing when the value is of another type, or absent.
std::optional<std::string> value_as(const PlainValues& values, const std::string& key,
                                    std::initializer_list<std::string_view> types) {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  for (const std::string_view type : types) {
    if (found->second.starts_with(type)) return found->second.substr(type.size());
  }
  return std::nullopt;
}

// Where a column's value stands in the JSON; empty for those that are not in it as they are.
std::string plain_key(const schema::Column& column) {
  const std::map<std::string_view, std::string> kCore = {
      {"name", ".name"}, {"cat", ".cat"}, {"ph", ".ph"}, {"ts_ns", ".ts"}, {"dur_ns", ".dur"}};
  if (column.key != ArgKey::none)
    return (column.member ? "." : "") + std::string(arg_key_texts()[static_cast<std::size_t>(column.key)]);
  const auto core = kCore.find(column.name);
  return core == kCore.end() ? "" : core->second;
}

class EveryColumn : public testing::TestWithParam<std::string> {
 protected:
  EveryColumn() : json_(fixture(GetParam())), trace_(read_ok(json_)), plain_(plain_values(json_)) {}

  // The values of one column, all rows; counts those that are known.
  void check(const schema::TableRows& rows, const schema::Column& column) {
    const std::string key = plain_key(column);
    if (key.empty()) return;
    switch (column.type()) {
      case schema::ColumnType::integer: {
        const auto values = read_column<std::int64_t>(rows, column);
        for (std::size_t row = 0; row < values.size; ++row) {
          const auto expected = value_as(of_row(rows, row), key, {"int:"});
          ASSERT_EQ(values[row].has_value(), expected.has_value()) << column.name << ", row " << row;
          ASSERT_EQ(values[row] ? std::to_string(*values[row]) : "", expected.value_or("")) << column.name << ", row " << row;
        }
        return note(values, column);
      }
      case schema::ColumnType::number: {
        const auto values = read_column<double>(rows, column);
        for (std::size_t row = 0; row < values.size; ++row) {
          const auto expected = value_as(of_row(rows, row), key, {"int:", "uint:", "real:"});
          ASSERT_EQ(values[row].has_value(), expected.has_value()) << column.name << ", row " << row;
          ASSERT_EQ(values[row].value_or(0), expected ? std::strtod(expected->c_str(), nullptr) : 0)
              << column.name << ", row " << row;
        }
        return note(values, column);
      }
      case schema::ColumnType::text: {
        const auto values = read_column<std::string_view>(rows, column);
        for (std::size_t row = 0; row < values.size; ++row) {
          auto expected = value_as(of_row(rows, row), key, {"text:", "json:"});
          if (expected && expected->empty() && column.key == ArgKey::none) expected.reset();
          ASSERT_EQ(values[row].has_value(), expected.has_value()) << column.name << ", row " << row;
          std::string text;
          if (expected) append_text(*values[row], &text);
          ASSERT_EQ(text, expected.value_or("")) << column.name << ", row " << row;
        }
        return note(values, column);
      }
      case schema::ColumnType::boolean: FAIL() << "no event has one: " << column.name;
    }
  }

  const PlainValues& of_row(const schema::TableRows& rows, std::size_t row) const { return plain_[rows.event(row).value]; }

  template <class T>
  void note(const SchemaValues<T>& values, const schema::Column& column) {
    if (std::ranges::count(values.known, 1) > 0) seen_.insert(std::string(column.name));
  }

  std::string json_;
  std::unique_ptr<Trace> trace_;
  std::vector<PlainValues> plain_;
  std::set<std::string> seen_;
};

TEST_P(EveryColumn, AsThePlainReaderHasIt) {
  ASSERT_EQ(trace_->events.size(), plain_.size());
  for (const schema::Table& table : schema::event_tables()) {
    const schema::TableRows rows = table.rows(*trace_);
    for (const schema::Column& column : table.columns) {
      check(rows, column);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(seen_.size(), 20U) << "the trace has too few arguments to show anything";
}

// All arguments, in their order, with all their values.
TEST_P(EveryColumn, Arguments) {
  const auto event = read_column<std::int64_t>(*trace_, "args", "event");
  const auto key = read_column<std::string_view>(*trace_, "args", "key");
  const auto member = read_column<bool>(*trace_, "args", "member");
  const auto type = read_column<std::string_view>(*trace_, "args", "type");
  const auto integer = read_column<std::int64_t>(*trace_, "args", "integer");
  const auto number = read_column<double>(*trace_, "args", "number");
  const auto boolean = read_column<bool>(*trace_, "args", "boolean");
  const auto text = read_column<std::string_view>(*trace_, "args", "text");
  Lines lines(plain_.size());
  for (std::size_t row = 0; row < event.size; ++row) {
    std::string& line = lines[static_cast<std::size_t>(*event[row])];
    line += *member[row] ? "{." : "{";
    append_text(*key[row], &line);
    line += '=';
    if (*type[row] == "integer") {
      line += integer[row] ? "int:" + std::to_string(*integer[row]) : "uint:" + std::to_string(*number[row]);
      ASSERT_EQ(*number[row], static_cast<double>(integer[row].value_or(static_cast<std::int64_t>(*number[row]))));
    } else if (*type[row] == "number") {
      line += "real:";
      append_real(*number[row], &line);
    } else if (*type[row] == "boolean") {
      line += *boolean[row] ? "true" : "false";
    } else if (*type[row] == "null") {
      line += "null";
    } else {
      line += std::string(*type[row]) + ":";
      append_text(*text[row], &line);
    }
    line += '}';
    ASSERT_EQ(text[row].has_value(), *type[row] == "text" || *type[row] == "json" || *type[row] == "big_integer");
    ASSERT_EQ(boolean[row].has_value(), *type[row] == "boolean");
  }
  const Lines expected = plain_lines(json_);
  for (std::size_t i = 0; i < lines.size(); ++i)
    ASSERT_TRUE(expected[i].ends_with("|" + lines[i])) << expected[i] << "\n" << lines[i];
}

INSTANTIATE_TEST_SUITE_P(Fixtures, EveryColumn,
                         testing::Values("gpt_eager_train_stack_mem", "ddp_gloo_rank0", "clean_fused_pointwise",
                                         "gpt_cudagraph_infer"),
                         [](const auto& fixture) { return fixture.param; });

}  // namespace
}  // namespace ridge::test
