// Timeline: the slices of one trace as a picture needs them: tracks, slices of a window bounded by pixels, details of one
// slice, areas, search. The one door of the engine that is not a Report.
//
// Times are ns relative to the start of the trace's window and may be negative (work before the window). `id` is an event of
// the trace, `track` an exact (pid, tid) pair. Thread-safe; tables are made when first asked for and kept. Texts are the
// trace's own: valid UTF-8, any length but for `names` of slices, which are cut.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ridge/result.h>

namespace ridge {

struct TrackInfo {
  std::uint32_t id = 0;
  std::string name;
  std::string_view kind;                       // thread, stream, other
  std::optional<std::int64_t> device, stream;  // of a stream, where its events agree on one
  std::uint32_t depth = 0;                     // rows that its slices take
  std::uint64_t slices = 0;
  std::int64_t busy_ns = 0;  // time in which it has any slice; of a stream, in which it works
};

struct TrackGroup {  // a process of the trace; a device's streams are one too
  std::string id;
  std::string name;
  std::string labels;
  std::string_view kind;          // process, device
  std::int64_t sort = 0;          // its place in the order to show
  std::vector<TrackInfo> tracks;  // in the order to show
};

struct SliceQuery {
  std::uint32_t track = 0;
  std::int64_t from_ns = 0, to_ns = 0;
  std::uint32_t px = 1000;            // 1 to kMostPixels: how many buckets the window may have
  std::uint32_t depths = UINT32_MAX;  // rows from the top
  std::size_t most_bytes = 190'000;   // of the answer as JSON, about; buckets grow until it fits
};
inline constexpr std::uint32_t kMostPixels = 8192;

// One row of a track within the window, in columns. Slices at least a bucket long are exact; the others are counted in the
// bucket they start in.
struct DepthSlices {
  std::uint32_t depth = 0;
  struct {
    std::vector<std::int64_t> start_ns, dur_ns;
    std::vector<std::uint32_t> name, id, category;
  } slices;
  struct {
    std::vector<std::uint32_t> at;                  // index of the bucket, from the window's start
    std::vector<std::uint32_t> count;               // slices that start in it; 0 where one only reaches in
    std::vector<std::uint8_t> busy;                 // share of the bucket that they cover, 0 to 255
    std::vector<std::uint32_t> name, id, category;  // of the longest
  } buckets;
};

struct SliceWindow {
  std::uint32_t track = 0;
  std::int64_t from_ns = 0, to_ns = 0;  // what was asked, widened to whole buckets
  std::int64_t bucket_ns = 0;           // a power of two; buckets start at its multiples
  std::vector<DepthSlices> depths;      // rows that have something in the window
  std::vector<std::string> names;       // cut after some 120 bytes
};

struct SliceRef {
  std::uint32_t id = 0;
  std::string name;
  std::uint32_t track = 0;
  std::uint32_t depth = 0;
  std::int64_t start_ns = 0, dur_ns = 0;
};

struct SliceFlow {
  std::string_view kind;       // launch, fwdbwd, async
  std::string_view direction;  // in, out
  SliceRef other;              // the other end
};

struct SliceCost {  // of device work; unknown is absent
  std::optional<double> flops, flops_pointwise, bytes_read, bytes_written, roof_ns, headroom_ns, pct_peak_flops,
      pct_peak_bandwidth;
  std::string_view dtype, estimate, bound;  // empty: unknown
};

struct SliceArg {
  std::string key;
  std::string json;   // the value as JSON
  bool text = false;  // `json` is bare text instead, to be escaped and quoted by whoever writes it
};

struct SliceDetails {
  SliceRef slice;
  std::string category;
  std::optional<std::int64_t> self_ns;
  std::vector<SliceArg> args;
  std::optional<SliceRef> op, parent;
  std::string op_name;  // of an op without a slice here: it ran when a graph was captured, in another trace
  std::string_view
      op_from;  // empty: the trace itself names the op; else where it was recovered from, as a graph's replay hides it
  std::string frame, module;  // of the op where it was recovered; empty: not known
  std::optional<SliceCost> cost;
  std::vector<SliceFlow> flows;  // bounded
};

struct AreaRow {
  std::string name, category;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;  // the parts inside the area
  std::int64_t self_ns = 0;   // without what lies below them on their track
};

struct Area {
  std::vector<std::pair<std::int64_t, double>> busy_pct;  // device -> share of the area, 0 to 100
  std::vector<AreaRow> by_name;                           // top 200 by total
  std::vector<AreaRow> by_category;                       // `name` is empty
  std::int64_t slices = 0;
};

// A node of an area's tree of calls: the track itself, or slices of one name below one parent.
struct FlameNode {
  std::int64_t parent = -1;  // index of the node above, which stands before it; -1: a track
  std::uint32_t track = 0;
  std::string name, category;  // empty for a track
  std::int64_t count = 0;
  std::int64_t total_ns = 0;  // the parts inside the area; of a track, of what stands below it
  std::int64_t self_ns = 0;   // without what is below; 0 where slices below overlap by more than that
};

struct Flame {
  std::vector<FlameNode> nodes;
  std::int64_t left_out = 0;  // the smallest nodes, where there are very many
};

struct SearchHits {
  std::int64_t hits = 0;          // all of them
  std::vector<SliceRef> results;  // the first, in order of time
  // The names that match, cut as those of slices are; nothing where there are more than kMostMatchedNames.
  std::optional<std::vector<std::string>> names;
};
inline constexpr std::size_t kMostMatchedNames = 2000;

// Every slice of a trace, for who keeps them all: by track, row by row, each in order of start.
struct TrackSlices {
  std::uint32_t track = 0;
  std::uint32_t upper_rows = 0;  // of a stream: rows without work
  struct Row {
    std::vector<std::int64_t> start_ns, dur_ns;
    std::vector<std::uint32_t> name, id, category;
  };
  std::vector<Row> rows;
};
struct AllSlices {
  std::vector<std::string> names;  // whole
  std::vector<TrackSlices> tracks;
};

// How often each name occurs on each track.
struct NameCounts {
  std::vector<std::string> names;  // whole
  struct OfTrack {
    std::uint32_t track = 0;
    std::vector<std::uint32_t> name;
    std::vector<std::int64_t> count;
  };
  std::vector<OfTrack> tracks;
};

struct Mark {
  std::string_view kind;  // break, recompile, sync, gap, iteration, critical
  std::int64_t start_ns = 0, dur_ns = 0;
  std::optional<std::uint32_t> track, id;
  std::string label;
};

struct BusyCurve {
  std::int64_t bucket_ns = 0;
  std::vector<std::uint8_t> host;  // share of each bucket in which any thread ran an op or a call of the runtime
  std::vector<std::pair<std::int64_t, std::vector<std::uint8_t>>> devices;
};

// How fast the kernels of a device moved bytes, bucket by bucket of the window: the bytes of a launch are spread evenly over
// its time.
struct BandwidthCurve {
  std::int64_t device = 0;
  std::optional<double> peak_bytes_per_s;
  std::optional<double> known_pct;  // of the kernels' time: whose bytes are known; of the others nothing is in the curve
  std::vector<double> bytes_per_s;
};
struct Bandwidth {
  std::int64_t bucket_ns = 0;
  std::vector<BandwidthCurve> devices;  // those of which anything is known
};

struct TraceFacts {
  std::string path, name;
  std::int64_t window_ns = 0;
  std::optional<std::int64_t> start_unix_ns;
  std::uint64_t events = 0;
  std::string_view per;  // by which rule iterations were found
  std::int64_t iteration_count = 0;
  struct Iteration {
    std::int64_t number = 0, start_ns = 0, end_ns = 0;
  };
  std::vector<Iteration> iterations;  // the first kMostIterations
};
inline constexpr std::size_t kMostIterations = 2000;

class Timeline {
 public:
  struct State;  // the engine alone can make one
  explicit Timeline(std::unique_ptr<State> state);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  TraceFacts facts() const;
  std::vector<TrackGroup> groups() const;
  const std::vector<std::string>& categories() const;  // what `category` of slices indexes

  // Wrong arguments and unknown tracks or events are ErrorCode::usage.
  Result<SliceWindow> slices(const SliceQuery& query) const;
  Result<SliceDetails> slice(std::uint32_t id) const;
  Result<std::optional<std::uint32_t>> neighbour(std::uint32_t id, bool next) const;  // on its row; nothing at the end
  Result<Area> area(std::int64_t from_ns, std::int64_t to_ns, const std::optional<std::vector<std::uint32_t>>& tracks) const;
  Result<Flame> flame(std::int64_t from_ns, std::int64_t to_ns, const std::optional<std::vector<std::uint32_t>>& tracks) const;
  // A part of names in any case; "=..." exactly that name, or where it ends in "…" those that begin so; "re:..." an RE2
  // expression. Counts all hits; returns those from number `skip` on, at most `limit`, in order of time.
  Result<SearchHits> search(std::string_view text, std::size_t limit, std::size_t skip = 0) const;
  AllSlices all_slices() const;
  NameCounts name_counts() const;
  std::vector<Mark> marks() const;  // the longest 200 of each kind, in order of time
  Result<BusyCurve> busy(std::uint32_t px) const;
  Result<Bandwidth> bandwidth(std::uint32_t px) const;

  std::uint64_t memory_bytes() const;  // of the tables made so far

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ridge
