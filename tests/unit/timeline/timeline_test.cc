// The doors of the timeline on hand-made and real traces: names of tracks, windows of slices, details, areas, search, marks.
#include <ridge/timeline.h>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "facts/iteration_time.h"
#include "support/files.h"
#include "support/loaded_trace.h"
#include "timeline/make_timeline.h"

namespace ridge {
namespace {

using test::LoadedTrace;

struct Opened {
  LoadedTrace loaded;
  std::unique_ptr<const Timeline> made;
  const Timeline& timeline;

  explicit Opened(LoadedTrace l)
      : loaded(std::move(l)),
        made(make_timeline(std::make_shared<const CostModel>(*loaded.model, CostOptions{}))),
        timeline(*made) {}
};

constexpr std::string_view kSmall = R"json(
  {"ph":"M","name":"process_name","pid":10,"tid":0,"args":{"name":"python"}},
  {"ph":"M","name":"process_labels","pid":10,"tid":0,"args":{"labels":"CPU"}},
  {"ph":"M","name":"process_sort_index","pid":10,"tid":0,"args":{"sort_index":5}},
  {"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}},
  {"ph":"M","name":"process_sort_index","pid":0,"tid":0,"args":{"sort_index":2}},
  {"ph":"M","name":"thread_name","pid":10,"tid":11,"args":{"name":"thread 11 (main)"
}
},
  {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 <script>"}},
  {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":11,"ts":100,"dur":50,"args":{"External id":1,"Input Dims":[[2,3],[3,4]],"note":"\"q\"\u0001"}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":110,"dur":10,"args":{"correlation":5}},
  {"ph":"X","cat":"kernel","name":"gemm_a","pid":0,"tid":7,"ts":130,"dur":100,"args":{"device":0,"stream":7,"correlation":5}},
  {"ph":"X","cat":"kernel","name":"gemm_b","pid":0,"tid":7,"ts":220,"dur":80,"args":{"device":0,"stream":7,"correlation":6}})json";

const TrackInfo* find_track(const std::vector<TrackGroup>& groups, std::string_view kind) {
  for (const TrackGroup& group : groups) {
    for (const TrackInfo& track : group.tracks) {
      if (track.kind == kind) return &track;
    }
  }
  return nullptr;
}

TEST(Timeline, TracksAreNamedAndSortedAsTheTraceSays) {
  const Opened t(test::load_events(kSmall));
  const auto groups = t.timeline.groups();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].labels, "GPU 0");
  EXPECT_EQ(groups[0].kind, "device");
  EXPECT_EQ(groups[1].name, "python (pid 10)");
  EXPECT_EQ(groups[1].labels, "CPU");
  ASSERT_EQ(groups[0].tracks.size(), 1U);
  const TrackInfo& stream = groups[0].tracks[0];
  EXPECT_EQ(stream.name, "stream 7 <script>");
  EXPECT_EQ(stream.kind, "stream");
  EXPECT_EQ(stream.device, 0);
  EXPECT_EQ(stream.stream, 7);
  EXPECT_EQ(stream.depth, 2U);  // the two kernels overlap by 10 us
  EXPECT_EQ(stream.busy_ns, 170'000);
  EXPECT_EQ(groups[1].tracks[0].name, "thread 11 (main)");
}

TEST(Timeline, SlicesComeWithNamesAndTimesFromTheWindowsStart) {
  const Opened t(test::load_events(kSmall));
  const auto groups = t.timeline.groups();
  const auto window =
      t.timeline.slices({.track = find_track(groups, "stream")->id, .from_ns = 0, .to_ns = 200'000, .px = 1000});
  ASSERT_TRUE(window);
  ASSERT_EQ(window->depths.size(), 2U);
  EXPECT_EQ(window->depths[0].slices.start_ns, std::vector<std::int64_t>{30'000});
  EXPECT_EQ(window->depths[0].slices.dur_ns, std::vector<std::int64_t>{100'000});
  EXPECT_EQ(window->names[window->depths[1].slices.name[0]], "gemm_b");
  EXPECT_EQ(t.timeline.categories()[window->depths[0].slices.category[0]], "gemm");
  EXPECT_EQ(window->bucket_ns, 256);
}

TEST(Timeline, RefusesWhatMakesNoSense) {
  const Opened t(test::load_events(kSmall));
  const std::uint32_t track = find_track(t.timeline.groups(), "stream")->id;
  EXPECT_FALSE(t.timeline.slices({.track = 9999, .from_ns = 0, .to_ns = 1, .px = 1}));
  EXPECT_FALSE(t.timeline.slices({.track = track, .from_ns = 1, .to_ns = 1, .px = 1}));
  EXPECT_FALSE(t.timeline.slices({.track = track, .from_ns = INT64_MIN, .to_ns = INT64_MAX, .px = 1}));
  EXPECT_FALSE(t.timeline.slices({.track = track, .from_ns = 0, .to_ns = 1, .px = 0}));
  EXPECT_FALSE(t.timeline.slices({.track = track, .from_ns = 0, .to_ns = 1, .px = 8193}));
  EXPECT_FALSE(t.timeline.slice(0));  // a metadata event
  EXPECT_FALSE(t.timeline.slice(UINT32_MAX));
  EXPECT_FALSE(t.timeline.search("re:(", 10));
  EXPECT_FALSE(t.timeline.search("", 10));
  EXPECT_FALSE(t.timeline.area(5, 5, std::nullopt));
  EXPECT_FALSE(t.timeline.area(0, 5, std::vector<std::uint32_t>{12345}));
}

TEST(Timeline, DetailsHoldArgumentsParentsAndFlows) {
  const Opened t(test::load_events(kSmall));
  const auto hits = t.timeline.search("CUDALAUNCH", 10);
  ASSERT_TRUE(hits && hits->results.size() == 1);
  const auto launch = t.timeline.slice(hits->results[0].id);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->parent->name, "aten::mm");
  EXPECT_EQ(launch->op->name, "aten::mm");
  ASSERT_EQ(launch->flows.size(), 1U);
  EXPECT_EQ(launch->flows[0].kind, "launch");
  EXPECT_EQ(launch->flows[0].direction, "out");
  EXPECT_EQ(launch->flows[0].other.name, "gemm_a");
  const auto kernel = t.timeline.slice(launch->flows[0].other.id);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->op->name, "aten::mm");
  EXPECT_EQ(kernel->flows[0].direction, "in");
  const auto op = t.timeline.slice(launch->op->id);
  ASSERT_TRUE(op);
  EXPECT_EQ(op->self_ns, 40'000);
  std::map<std::string, std::string> args;
  for (const SliceArg& arg : op->args) args[arg.key] = arg.json;
  EXPECT_EQ(args["Input Dims"], "[[2,3],[3,4]]");
  EXPECT_EQ(args["note"], "\"q\"\x01");
  EXPECT_EQ(t.timeline.neighbour(kernel->slice.id, true)->has_value(), false);
}

// gemm runs eagerly under aten::mm, then inside a graph whose replay stands under another op.
TEST(Timeline, OpsThatAReplayHidesAreShownWithTheirSource) {
  const Opened t(test::load_events(R"json(
  {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":11,"ts":0,"dur":20,"args":{"Input Dims":[[2,3],[3,4]]}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":5,"dur":2,"args":{"correlation":1}},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":30,"dur":10,"args":{"device":0,"stream":7,"correlation":1,"grid":[8,1,1]}},
  {"ph":"X","cat":"cpu_op","name":"aten::relu","pid":10,"tid":11,"ts":22,"dur":10,"args":{"Input Dims":[[2,4]]}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":24,"dur":2,"args":{"correlation":2}},
  {"ph":"X","cat":"kernel","name":"relu","pid":0,"tid":7,"ts":45,"dur":4,"args":{"device":0,"stream":7,"correlation":2,"grid":[8,1,1]}},
  {"ph":"X","cat":"cpu_op","name":"CompiledFunction","pid":10,"tid":11,"ts":100,"dur":20,"args":{}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":10,"tid":11,"ts":105,"dur":2,"args":{"correlation":3}},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":120,"dur":11,"args":{"device":0,"stream":7,"correlation":3,"grid":[8,1,1]}},
  {"ph":"X","cat":"kernel","name":"relu","pid":0,"tid":7,"ts":135,"dur":5,"args":{"device":0,"stream":7,"correlation":3,"grid":[8,1,1]}})json"));
  const auto hits = t.timeline.search("gemm", 10);
  ASSERT_TRUE(hits && hits->results.size() == 2);
  const auto eager = t.timeline.slice(hits->results[0].id);
  const auto replayed = t.timeline.slice(hits->results[1].id);
  ASSERT_TRUE(eager && replayed && eager->op && replayed->op);
  EXPECT_EQ(eager->op_from, "");
  EXPECT_EQ(replayed->op_from, "eager_run");
  EXPECT_EQ(replayed->op->name, "aten::mm");
  EXPECT_EQ(replayed->op->id, eager->op->id);
}

TEST(Timeline, AreasAddUp) {
  const Opened t(test::load_events(kSmall));
  const auto area = t.timeline.area(0, 200'000, std::nullopt);
  ASSERT_TRUE(area);
  EXPECT_EQ(area->slices, 4);
  ASSERT_EQ(area->busy_pct.size(), 1U);
  EXPECT_NEAR(area->busy_pct[0].second, 85.0, 1e-9);
  EXPECT_EQ(area->by_name[0].name, "gemm_a");
  EXPECT_EQ(area->by_name[0].total_ns, 100'000);
  // A cut through the op: 10 us of it inside, half of the launch below it.
  const auto cut = t.timeline.area(5'000, 15'000, std::nullopt);
  ASSERT_TRUE(cut && cut->by_name.size() == 2);
  EXPECT_EQ(cut->by_name[0].name, "aten::mm");
  EXPECT_EQ(cut->by_name[0].total_ns, 10'000);
  EXPECT_EQ(cut->by_name[0].self_ns, 5'000);
  EXPECT_EQ(cut->by_name[1].total_ns, 5'000);
}

TEST(Timeline, AFlameIsTheTreeOfCallsInTheArea) {
  const Opened t(test::load_events(R"json(
  {"ph":"X","cat":"cpu_op","name":"step","pid":1,"tid":1,"ts":0,"dur":100},
  {"ph":"X","cat":"cpu_op","name":"mm","pid":1,"tid":1,"ts":10,"dur":20},
  {"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":15,"dur":5},
  {"ph":"X","cat":"cpu_op","name":"mm","pid":1,"tid":1,"ts":40,"dur":30},
  {"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":45,"dur":5},
  {"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":90,"dur":5},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":120,"dur":10,"args":{"device":0,"stream":7}})json"));
  using Row = std::tuple<std::int64_t, std::string, std::int64_t, std::int64_t, std::int64_t>;
  const auto rows = [&](std::int64_t from, std::int64_t to) {
    const auto flame = t.timeline.flame(from, to, std::nullopt);
    EXPECT_TRUE(flame);
    std::set<Row> all;
    for (const FlameNode& node : flame->nodes) {
      const std::int64_t above = node.parent < 0 ? -1 : flame->nodes[static_cast<std::size_t>(node.parent)].total_ns;
      all.emplace(above, node.name, node.count, node.total_ns, node.self_ns);
    }
    return all;
  };
  EXPECT_EQ(rows(0, 110'000), (std::set<Row>{{-1, "", 0, 100'000, 0},
                                             {100'000, "step", 1, 100'000, 45'000},
                                             {100'000, "mm", 2, 50'000, 40'000},
                                             {50'000, "launch", 2, 10'000, 10'000},
                                             {100'000, "launch", 1, 5'000, 5'000}}));
  // A cut through the second product counts with its part inside, and so does its caller.
  EXPECT_EQ(rows(60'000, 125'000), (std::set<Row>{{-1, "", 0, 40'000, 0},
                                                  {40'000, "step", 1, 40'000, 25'000},
                                                  {40'000, "mm", 1, 10'000, 10'000},
                                                  {40'000, "launch", 1, 5'000, 5'000},
                                                  {-1, "", 0, 5'000, 0},
                                                  {5'000, "gemm", 1, 5'000, 5'000}}));
  EXPECT_FALSE(t.timeline.flame(5, 5, std::nullopt));
  EXPECT_FALSE(t.timeline.flame(0, 5, std::vector<std::uint32_t>{12345}));
}

// Every real trace, at several zooms: all slices are there once, as themselves or counted in a bucket, and answers stay small.
TEST(Timeline, WindowsOfRealTracesLoseNothingAndStaySmall) {
  for (const std::string& path : test::own_traces()) {
    const Opened t(test::load_file(path));
    const TraceFacts facts = t.timeline.facts();
    for (const TrackGroup& group : t.timeline.groups()) {
      for (const TrackInfo& track : group.tracks) {
        // From far before the window to far behind it: spans and overhead lie outside.
        for (const std::uint32_t px : {1U, 100U, 1600U}) {
          const auto window = t.timeline.slices(
              {.track = track.id, .from_ns = -(std::int64_t{1} << 59), .to_ns = std::int64_t{1} << 59, .px = px});
          ASSERT_TRUE(window) << path;
          std::uint64_t seen = 0;
          for (const DepthSlices& row : window->depths) {
            seen += row.slices.id.size();
            for (const std::uint32_t count : row.buckets.count) seen += count;
          }
          EXPECT_EQ(seen, track.slices) << path << " track " << track.name;
        }
        const auto window = t.timeline.slices(
            {.track = track.id, .from_ns = 0, .to_ns = std::max<std::int64_t>(facts.window_ns, 1), .px = 1600});
        ASSERT_TRUE(window);
        std::size_t entries = 0;
        for (const DepthSlices& row : window->depths) entries += row.slices.id.size() + row.buckets.id.size();
        EXPECT_LT(entries, 9000U) << path;
      }
    }
  }
}

// Slices that overlap in more rows than there are: the words around each row weigh more than what is in it.
TEST(Timeline, AnswersOfManyRowsStaySmall) {
  std::string events;
  for (int i = 0; i < 3000; ++i) {
    if (i > 0) events += ",";
    events += test::event({.name = "o", .ts = i, .dur = 5000 + i});
  }
  const Opened t(test::load_events(events));
  const auto window = t.timeline.slices(
      {.track = t.timeline.groups().front().tracks.front().id, .from_ns = 0, .to_ns = 20'000'000, .px = 8192});
  ASSERT_TRUE(window);
  constexpr std::string_view kWords = R"({"depth":1023,"slices":{"start":[],"dur":[],"name":[],"id":[],"color":[]},)"
                                      R"("buckets":{"at":[],"count":[],"busy":[],"name":[],"id":[],"color":[]}},)";
  std::size_t bytes = 0;
  for (const DepthSlices& row : window->depths) bytes += kWords.size() + row.slices.id.size() * 30 + row.buckets.id.size() * 20;
  EXPECT_LT(bytes, 190'000U);
}

// aten::add is not aten::add_, and a name that was cut is found by its beginning.
TEST(Timeline, ASearchForANameFindsThatNameAlone) {
  const auto path = test::path_of("gpt_eager_train_stack_mem");
  ASSERT_TRUE(path);
  const Opened t(test::load_file(*path));
  const auto exact = t.timeline.search("=aten::add", 10'000), part = t.timeline.search("aten::add", 10'000),
             begin = t.timeline.search("=aten::add\u2026", 10'000), none = t.timeline.search("=aten::ADD", 10);
  ASSERT_TRUE(exact && part && begin && none);
  EXPECT_GT(exact->hits, 0);
  EXPECT_LT(exact->hits, part->hits);
  EXPECT_EQ(begin->hits, part->hits);  // the fixture has no such name within another
  EXPECT_EQ(none->hits, 0);
  for (const SliceRef& hit : exact->results) EXPECT_EQ(hit.name, "aten::add");
  EXPECT_EQ(exact->names, std::vector<std::string>{"aten::add"});
  EXPECT_FALSE(t.timeline.search("=", 10));
}

// Whoever keeps all slices, or counts their names, has as many as the tracks say.
TEST(Timeline, AllSlicesAreAll) {
  const auto path = test::path_of("resnet18_eager_shapes");
  ASSERT_TRUE(path);
  const Opened t(test::load_file(*path));
  const AllSlices all = t.timeline.all_slices();
  const NameCounts counts = t.timeline.name_counts();
  std::uint64_t wanted = 0, slices = 0, counted = 0, mm = 0;
  for (const TrackGroup& group : t.timeline.groups()) {
    for (const TrackInfo& track : group.tracks) wanted += track.slices;
  }
  for (const TrackSlices& track : all.tracks) {
    for (const TrackSlices::Row& row : track.rows) {
      slices += row.id.size();
      EXPECT_TRUE(std::is_sorted(row.start_ns.begin(), row.start_ns.end()));
    }
  }
  for (const NameCounts::OfTrack& track : counts.tracks) {
    for (std::size_t i = 0; i < track.name.size(); ++i) {
      counted += static_cast<std::uint64_t>(track.count[i]);
      if (counts.names[track.name[i]] == "aten::mm") mm += static_cast<std::uint64_t>(track.count[i]);
    }
  }
  EXPECT_EQ(slices, wanted);
  EXPECT_EQ(counted, wanted);
  EXPECT_EQ(static_cast<std::int64_t>(mm), t.timeline.search("=aten::mm", 1)->hits);
}

// What the curve holds, over the window, are the bytes that kernels are known to move.
TEST(Timeline, BandwidthAddsUpToTheBytesOfTheKernels) {
  const auto path = test::path_of("resnet18_eager_shapes");
  ASSERT_TRUE(path);
  const Opened t(test::load_file(*path));
  const auto fine = t.timeline.bandwidth(8000), coarse = t.timeline.bandwidth(10);
  ASSERT_TRUE(fine && coarse);
  ASSERT_EQ(fine->devices.size(), 1U);
  const auto bytes = [](const Bandwidth& curve) {
    double sum = 0;
    for (const double rate : curve.devices[0].bytes_per_s) sum += rate * static_cast<double>(curve.bucket_ns) / 1e9;
    return sum;
  };
  EXPECT_GT(bytes(*fine), 1e9);
  EXPECT_NEAR(bytes(*fine) / bytes(*coarse), 1, 1e-6);
  EXPECT_GT(fine->devices[0].known_pct.value(), 90);
  EXPECT_FALSE(t.timeline.bandwidth(0));
}

TEST(Timeline, HitsAreCountedAndInOrderOfTime) {
  const auto path = test::path_of("resnet18_eager_shapes");
  ASSERT_TRUE(path);
  const Opened t(test::load_file(*path));
  const auto all = t.timeline.search("conv", 10'000);
  const auto few = t.timeline.search("conv", 5);
  const auto same = t.timeline.search("re:(?i)conv", 5);
  ASSERT_TRUE(all && few && same);
  EXPECT_GT(all->hits, 5);
  EXPECT_EQ(few->hits, all->hits);
  EXPECT_EQ(same->hits, all->hits);
  ASSERT_EQ(few->results.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(few->results[i].id, all->results[i].id);
  for (std::size_t skip = 0; skip < all->results.size(); skip += 7) {  // any page is that part of the whole
    const auto page = t.timeline.search("conv", 7, skip);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->hits, all->hits);
    ASSERT_EQ(page->results.size(), std::min<std::size_t>(7, all->results.size() - skip));
    for (std::size_t i = 0; i < page->results.size(); ++i) EXPECT_EQ(page->results[i].id, all->results[skip + i].id);
  }
  const auto beyond = t.timeline.search("conv", 7, all->results.size());
  ASSERT_TRUE(beyond);
  EXPECT_EQ(beyond->hits, all->hits);
  EXPECT_TRUE(beyond->results.empty());
  EXPECT_TRUE(std::is_sorted(all->results.begin(), all->results.end(),
                             [](const SliceRef& a, const SliceRef& b) { return a.start_ns < b.start_ns; }));
  std::int64_t counted = 0;
  for (std::uint32_t i = 0; i < t.loaded.trace->events.size(); ++i) {
    std::string name(t.loaded.trace->text(t.loaded.trace->events.name(EventId{i})));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    counted += t.loaded.trace->kind(EventId{i}).phase == 'X' && name.find("conv") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(all->hits, counted);
}

// Pieces of the path follow each other: none overlaps the next, and together they are as long as the iterations.
TEST(Timeline, TheCriticalPathIsMarkedWithoutGaps) {
  const auto path = test::path_of("fault_item_sync");
  ASSERT_TRUE(path);
  const Opened t(test::load_file(*path));
  std::int64_t end = INT64_MIN, sum = 0;
  for (const Mark& mark : t.timeline.marks()) {
    if (mark.kind != "critical") continue;
    EXPECT_GE(mark.start_ns, end);
    EXPECT_TRUE(mark.track);
    end = mark.start_ns + mark.dur_ns;
    sum += mark.dur_ns;
  }
  EXPECT_EQ(sum, iteration_time(Scope(*t.loaded.model)).total_ns());
}

TEST(Timeline, MarksAreBoundedAndLieWhereTheySay) {
  const auto path = test::path_of("fault_item_sync");
  ASSERT_TRUE(path);
  const Opened t(test::load_file(*path));
  std::map<std::string_view, int> kinds;
  for (const Mark& mark : t.timeline.marks()) {
    ++kinds[mark.kind];
    EXPECT_GE(mark.dur_ns, 0);
    if (mark.kind == "sync") {
      ASSERT_TRUE(mark.id);
      const auto slice = t.timeline.slice(*mark.id);
      ASSERT_TRUE(slice);
      EXPECT_EQ(slice->slice.track, mark.track);
    }
  }
  EXPECT_GT(kinds["sync"], 0);
  EXPECT_GT(kinds["gap"], 0);
  EXPECT_GT(kinds["critical"], 0);
  for (const auto& [kind, count] : kinds) EXPECT_LE(count, kind == "critical" ? 2000 : 200) << kind;
}

TEST(Timeline, TheOverviewIsAsBusyAsTheDevice) {
  const auto path = test::path_of("clean_busy_gemm");
  ASSERT_TRUE(path);
  const Opened t(test::load_file(*path));
  const auto curve = t.timeline.busy(500);
  const auto area = t.timeline.area(0, t.timeline.facts().window_ns, std::nullopt);
  ASSERT_TRUE(curve && area && curve->devices.size() == 1);
  double sum = 0;
  for (const std::uint8_t share : curve->devices[0].second) sum += share / 255.0;
  EXPECT_NEAR(100 * sum / static_cast<double>(curve->devices[0].second.size()), area->busy_pct[0].second, 1.0);
}

// Many short annotations side by side, and kernels that work a tenth of the time: at no zoom the row of the kernels looks
// busier than that.
TEST(Timeline, AnnotationsFillNoGapsOfAStream) {
  std::string events = R"({"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 "}})";
  for (int i = 0; i < 1000; ++i) {
    events += fmt::format(
        R"(,{{"ph":"X","cat":"gpu_user_annotation","name":"a","pid":0,"tid":7,"ts":{0},"dur":10}})"
        R"(,{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{1},"dur":1,"args":{{"device":0,"stream":7}}}})",
        i * 10, i * 10 + (i % 2 == 0 ? 3 : 9.5));
  }
  const Opened t(test::load_events(events));
  const TrackInfo track = *find_track(t.timeline.groups(), "stream");
  EXPECT_EQ(track.name, "stream 7");
  EXPECT_EQ(track.busy_ns, 1'000'000);
  for (const std::uint32_t px : {10U, 100U}) {
    const auto window = t.timeline.slices({.track = track.id, .from_ns = 0, .to_ns = 10'000'000, .px = px});
    ASSERT_TRUE(window);
    std::size_t kernels = 0;
    for (const DepthSlices& row : window->depths) {
      for (std::size_t i = 0; i < row.buckets.at.size(); ++i) {
        if (window->names[row.buckets.name[i]] != "k") continue;
        ++kernels;
        EXPECT_LT(row.buckets.busy[i], 255 / 5) << px;
      }
    }
    EXPECT_GT(kernels, 0U);
  }
  const auto curve = t.timeline.busy(20);
  ASSERT_TRUE(curve && curve->devices.size() == 1);
  for (const std::uint8_t share : curve->devices[0].second) EXPECT_LT(share, 255 / 5);
}

// Cut at 25 ns: `step` has 25 ns inside, of which a covers 10 and `forward` 5; they stand in different rows.
TEST(Timeline, AreasLeaveWorkOutOfAnnotationsAboveIt) {
  const Opened t(test::load_events(R"json(
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1.005,"dur":0.010,"args":{"device":0,"stream":7}},
    {"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":1,"dur":0.100},
    {"ph":"X","cat":"gpu_user_annotation","name":"forward","pid":0,"tid":7,"ts":1.020,"dur":0.040},
    {"ph":"X","cat":"cpu_op","name":"op","pid":9,"tid":9,"ts":1,"dur":0.200})json"));
  const auto area = t.timeline.area(0, 25, std::nullopt);
  ASSERT_TRUE(area);
  const auto step =
      std::find_if(area->by_name.begin(), area->by_name.end(), [](const AreaRow& row) { return row.name == "step"; });
  ASSERT_NE(step, area->by_name.end());
  EXPECT_EQ(step->self_ns, 25 - 10 - 5);
}

TEST(Timeline, HostileTextsComeThrough) {
  const std::string huge(100'000, 'x');
  const std::string events = fmt::format(
      R"({{"ph":"X","cat":"cpu_op","name":"<script>alert(1)</script>{}","pid":1,"tid":1,"ts":1,"dur":2,"args":{{"k\"<":"\u202e{}"}}}})",
      huge, huge);
  const Opened t(test::load_events(events));
  const auto groups = t.timeline.groups();
  const auto window = t.timeline.slices({.track = groups[0].tracks[0].id, .from_ns = 0, .to_ns = 2000, .px = 10});
  ASSERT_TRUE(window);
  ASSERT_EQ(window->names.size(), 1U);
  EXPECT_LE(window->names[0].size(), 130U);
  const auto details = t.timeline.slice(window->depths[0].slices.id[0]);
  ASSERT_TRUE(details);
  EXPECT_GT(details->slice.name.size(), 100'000U);
}

}  // namespace
}  // namespace ridge
