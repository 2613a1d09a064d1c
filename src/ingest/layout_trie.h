// LayoutTrie: reads events by rote, the way this very file writes them.
//
// A profiler prints each kind of event with one format string, so between two values stand the same bytes again and again:
// `, "pid": `, `,\n    "args": {\n      "External id": `. LayoutTrie keeps these gaps in a trie. A node stands after a value;
// its edges are the gaps seen there, each leading to the value that follows. One comparison of bytes proves the syntax, the key
// and the order at once; what is left is to read numbers and to look up texts. `ph`, `cat` and other words that belong to the
// kind are part of the gap; so are pid and tid where they stand side by side, as long as a node has met few different ones. At
// the end of an event the path through the trie is its schema, already interned.
//
// It never guesses: a gap that is not in the trie, a value of a type not seen there, a text that needs mending make read()
// return nullptr with nothing changed, and the general path (event_text.h, event_builder.h) takes the event and teaches it with
// learn(). So both paths accept the same language and give the same rows; the differential tests hold them against each other.
//
// Cost: about 60 ns an event of 250 bytes on a current core, an order below a general parser. Memory: bounded (kMostNodes).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/event_builder.h"
#include "ingest/event_text.h"
#include "ingest/scan.h"
#include "ingest/text_cache.h"
#include "trace/event_table.h"
#include "trace/form.h"

namespace ridge {

class LayoutTrie {
 public:
  static constexpr std::ptrdiff_t kLongestEvent = 4096;  // bytes; longer ones take the general path, which asks what they hold

  LayoutTrie(FormTable* forms, TextCache* texts);

  // Reads the event at p (`{`) into `run`; returns the start (`{`) of the next one, or nullptr with `run` as it was.
  // Its place is for the caller to note.
  // The text must be followed by kPadding zero bytes at `end`.
  const char* read(const char* p, const char* end, EventRun* run);

  // Remembers how a plain event was written. `end` bounds the text that may be looked at behind it.
  void learn(const EventText& event, const Recipe& recipe, const char* end);

 private:
  // How a value was read: selects the node behind it.
  enum class Way : std::uint8_t { int32, int64, real, text, json, null, false_value, true_value, time, count_ };
  static constexpr std::size_t kWays = static_cast<std::size_t>(Way::count_);
  static constexpr std::size_t kMostNodes = 8192;
  static constexpr std::size_t kMostEdges = 48;   // of one node
  static constexpr std::size_t kMostTracks = 12;  // folded into edges of one node; further ones are read as numbers
  static constexpr std::size_t kLongestGap = 240;
  static constexpr std::size_t kMostWords = 128;  // of one event

  struct Node;
  struct Edge;
  using Fan = std::array<Node*, kWays>;  // where an edge leads, by the way its value was read

  // The end of a path: what every event that took it is.
  struct Leaf {
    KindId kind;
    ArgSchemaId schema;
    TrackPart::Type pid = TrackPart::Type::absent;
    TrackPart::Type tid = TrackPart::Type::absent;
    std::uint32_t number = 0;
    Edge* successor = nullptr;         // the first edge of the event that came next the last time
    const Edge* last_track = nullptr;  // the edge that held pid and tid the last time, and the form it gave
    FormId last_form;
  };
  struct Edge {
    std::uint32_t size = 0;
    std::uint16_t full_blocks = 0;  // of 16 bytes; one more follows, whose bytes in `beyond` are not part of the gap
    Field field = Field::end;
    bool holds_track = false;  // pid and tid stand inside the gap
    ByteSet beyond = 0;
    Fan* fan = nullptr;
    Leaf* leaf = nullptr;  // of an end edge
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    std::array<char, kLongestGap> gap{};
    std::string skeleton;  // the gap without the numbers inside: edges of a node with equal ones share their fan
  };
  struct Node {
    std::vector<std::unique_ptr<Edge>> edges;
    Edge* likely = nullptr;
  };
  struct CachedForm {
    std::uint32_t leaf = UINT32_MAX;
    FormId form;
    std::int64_t pid = 0;
    std::int64_t tid = 0;
  };
  // Values of the event being read, beside its words.
  struct Reading {
    std::int64_t ts_ns = kNoTime;
    std::int64_t dur_ns = kUnknownDuration;
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    StringId name;
    const Edge* track = nullptr;
    std::uint32_t* word = nullptr;
  };
  // A gap as learn() finds it.
  struct Gap {
    std::string_view text;
    std::string skeleton;
    bool holds_track = false;
  };

  static bool matches(const Edge& edge, const char* p);
  static Edge* follow(Node* node, const char* p);
  static Way way_of(Field field, ArgType type);
  // Each reads the value at p; returns its end or nullptr.
  const char* read_text(const char* p, const char* end, StringId* id);
  const char* read_track_part(const char* p, const char* end, std::int64_t* value, Way* way);
  const char* read_integer_argument(const char* p, Reading* reading, Way* way);
  const char* read_argument(const char* p, const char* end, Reading* reading, Way* way);
  FormId form_of(Leaf* leaf, const Reading& reading);
  FormId find_form(const Leaf& leaf, std::int64_t pid, std::int64_t tid);
  bool may_fold_track(const Node& node, const EventText& event, const Recipe& recipe, std::size_t member) const;
  Edge* find_or_add(Node* node, const Gap& gap, Field field, const Recipe& recipe);

  FormTable* forms_;
  TextCache* texts_;
  std::deque<Node> nodes_;
  std::deque<Fan> fans_;
  std::deque<Leaf> leaves_;
  Node* root_;
  Leaf* last_leaf_ = nullptr;
  std::vector<CachedForm> cached_forms_;
};

}  // namespace ridge
