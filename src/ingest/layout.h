// Layout: reads events by rote, the way this very file writes them.
//
// A profiler prints each kind of event with one format string, so between two values stand the same bytes again and again:
// `, "pid": `, `,\n    "args": {\n      "External id": `. Layout keeps these gaps in a trie. A node stands after a value; its edges are the
// gaps seen there, each leading to the value that follows. One comparison of bytes proves the syntax, the key and the order at once;
// what is left is to read numbers and to look up texts. `ph`, `cat` and other words that belong to the kind are part of the gap.
// At the end of an event the path through the trie is its shape, already interned.
//
// It never guesses: a gap that is not in the trie, a value of a type not seen there, a text that needs mending make read() return
// nullptr with nothing changed, and the general path (event_text.h, event_builder.h) takes the event and teaches it with learn().
// So both paths accept the same language and give the same rows; the differential tests hold them against each other.
//
// Cost: about 60 ns an event of 250 bytes on a current core, an order below a general parser. Memory: bounded (kMostNodes).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/arena.h"
#include "ingest/event_builder.h"
#include "ingest/event_text.h"
#include "ingest/scan.h"
#include "ingest/text_cache.h"
#include "trace/event_table.h"
#include "trace/form.h"

namespace ridge {

class Layout {
 public:
  Layout(FormTable* forms, TextCache* texts);

  // Reads the event at p (`{`) into `run`; returns the start (`{`) of the next one, or nullptr with `run` as it was.
  // The text must be followed by kPadding zero bytes at `end`.
  const char* read(const char* p, const char* end, EventRun* run);

  // Remembers how a plain event was written. `end` bounds the text that may be looked at behind it.
  void learn(const EventText& event, const Recipe& recipe, const char* end);

 private:
  // How a value was read: selects the node behind it.
  enum class Way : std::uint8_t { int32, int64, real, text, json, null, false_value, true_value, time, count_ };
  static constexpr std::size_t kWays = static_cast<std::size_t>(Way::count_);
  static constexpr std::size_t kMostNodes = 8192;
  static constexpr std::size_t kMostEdges = 32;      // of one node
  static constexpr std::size_t kLongestGap = 224;    // bytes
  static constexpr std::size_t kMostWords = 128;     // of one event

  struct Node;
  struct Edge;
  struct Leaf {
    KindId kind;
    ShapeId shape;
    TrackPart::Type pid = TrackPart::Type::absent;
    TrackPart::Type tid = TrackPart::Type::absent;
    std::uint32_t number = 0;
    Edge* successor = nullptr;  // the first edge of the event that came next the last time
  };
  struct Edge {
    const char* gap = nullptr;  // padded to whole blocks of 16
    std::uint32_t size = 0;
    std::uint32_t full_blocks = 0;
    ByteSet beyond = 0;  // the bytes of the last block that are not part of the gap
    Field field = Field::end;
    std::array<Node*, kWays> next{};
    std::unique_ptr<Leaf> leaf;  // of an end edge
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
    std::uint32_t* word = nullptr;
  };

  static bool matches(const Edge& edge, const char* p);
  static Edge* follow(Node* node, const char* p);
  static Way way_of(Field field, ArgType type);
  // Each reads the value at p; returns its end or nullptr.
  const char* read_text(const char* p, const char* end, StringId* id);
  const char* read_track_part(const char* p, const char* end, std::int64_t* value, Way* way);
  const char* read_argument(const char* p, const char* end, Reading* reading, Way* way);
  FormId form_of(const Leaf& leaf, std::int64_t pid, std::int64_t tid);
  Edge* find_or_add(Node* node, std::string_view gap, Field field);
  Node* add_node();

  FormTable* forms_;
  TextCache* texts_;
  Arena gaps_;
  std::deque<Node> nodes_;
  Node* root_;
  Leaf* last_leaf_ = nullptr;
  std::uint32_t leaves_ = 0;
  std::vector<CachedForm> cached_forms_;
};

}  // namespace ridge
