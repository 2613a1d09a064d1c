// TopLevel: what surrounds traceEvents. Reads the file's outermost object byte by byte, piece by piece, keeps the text of its
// other members (metadata) and finds the event array; afterwards goes on behind it. Metadata that is damaged is given up, the
// events are not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/diagnostics.h"

namespace ridge {

class TopLevel {
 public:
  explicit TopLevel(Diagnostics* diagnostics) : diagnostics_(diagnostics) {}

  // Reads on; returns past the `[` of the events once they are found, else `end`.
  const char* read(const char* p, const char* end);

  bool at_events() const { return state_ == State::events; }
  // The array is over; read() goes on behind it. `inside_object`: it was not closed and the next thing is a key or a brace.
  void after_events(std::uint64_t offset, bool inside_object);
  // The input is over, at `offset`.
  void finish(std::uint64_t offset);

  bool bare_array() const { return bare_array_; }  // the events are no member of an object
  bool is_json() const { return state_ != State::not_json && state_ != State::before; }
  bool saw_anything() const { return state_ != State::before; }
  bool complete() const { return state_ == State::done; }
  // Where it ceased to be JSON, when no events were found from there on.
  std::optional<std::uint64_t> lost_at() const {
    return state_ == State::searching ? std::optional(damaged_at_) : std::nullopt;
  }

  // The events' key inside another member, where it is none of the file's: the member, and where the list starts.
  struct Nested {
    std::string member;
    std::uint64_t offset;
  };
  const std::optional<Nested>& nested_events() const { return nested_events_; }

  struct Item {
    std::string key;
    std::string value;         // as it stands in the file
    std::uint64_t offset = 0;  // of its end in the JSON
  };
  const std::vector<Item>& items() const { return items_; }

 private:
  enum class State : std::uint8_t {
    before,
    not_json,
    key_or_close,
    key_start,
    key,
    colon,
    value,
    string,
    scalar,
    nested,
    after_value,
    events,
    done,
    searching,
  };
  static constexpr std::size_t kLongestValue = std::size_t{16} << 20;
  static constexpr std::size_t kDeepest = std::size_t{1} << 20;  // brackets in one another: no writer's, and each takes memory
  static constexpr std::size_t kMostKept = std::size_t{64} << 20;  // bytes of all items

  void step(char c);
  void begin_value(char c);
  void end_value();
  void keep(char c);
  void damaged();
  void search(char c);
  void open_bracket(char c);
  void close_bracket(char c);
  bool value_ends_with_events_key() const;

  Diagnostics* diagnostics_;
  State state_ = State::before;
  std::uint64_t offset_ = 0;
  std::string key_;
  std::string value_;
  bool value_too_long_ = false;
  bool too_long_noted_ = false;
  std::size_t kept_bytes_ = 0;
  bool escaped_ = false;
  bool in_string_ = false;  // inside a nested value
  std::vector<bool> open_;  // the brackets around a nested value, outermost first: whether each is a brace
  bool bare_array_ = false;
  bool events_seen_ = false;
  std::optional<Nested> nested_events_;
  bool garbage_noted_ = false;
  std::uint64_t damaged_at_ = 0;
  std::string recent_;  // the last bytes, while searching for the events behind damage
  int bom_ = 0;
  std::vector<Item> items_;
};

}  // namespace ridge
