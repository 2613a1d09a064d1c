// One function per answer. The fields are the documented ones; nothing is computed here.
#include "timeline_json.h"

#include <fmt/format.h>

#include <ridge/json.h>

namespace ridge::server {
namespace {

void write_iterations(JsonWriter& out, const TraceFacts& facts) {
  out.object([&] {
    out.members("count", facts.iteration_count, "per", facts.per);
    out.key("list").array(facts.iterations, [&](const TraceFacts::Iteration& it) {
      out.record("index", it.number, "name", fmt::format("{} {}", facts.per, it.number), "start_ns", it.start_ns, "end_ns",
                 it.end_ns);
    });
  });
}

void write_trace_members(JsonWriter& out, const ListedTrace& trace, std::size_t index) {
  const TraceFacts& facts = trace.facts;
  const bool known = trace.state == "open";
  const auto if_known = [&](auto value) { return known ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt; };
  out.members("index", static_cast<std::int64_t>(index), "name", facts.name, "path_name", facts.path, "state", trace.state,
              "window_ns", if_known(facts.window_ns), "start_unix_ns", facts.start_unix_ns, "events", if_known(facts.events));
  write_iterations(out.key("iterations"), facts);
}

void write_analysis(JsonWriter& out, const AnalysisInfo& analysis) {
  out.object([&] {
    out.members("name", analysis.name, "description", analysis.description);
    out.key("parameters").array(analysis.parameters, [&](const Parameter& parameter) {
      out.record("name", parameter.name, "type", name_of(parameter.type), "description", parameter.description);
    });
  });
}

void write_track(JsonWriter& out, const TrackInfo& track) {
  out.record("id", track.id, "name", track.name, "kind", track.kind, "device", track.device, "stream", track.stream, "depth",
             track.depth, "slices", track.slices, "busy_ns", track.busy_ns);
}

void write_depth(JsonWriter& out, const DepthSlices& row) {
  const auto& slices = row.slices;
  const auto& buckets = row.buckets;
  out.object([&] {
    out.members("depth", row.depth);
    out.key("slices").record("start", slices.start_ns, "dur", slices.dur_ns, "name", slices.name, "id", slices.id, "color",
                             slices.category);
    out.key("buckets").record("at", buckets.at, "count", buckets.count, "busy", buckets.busy, "name", buckets.name, "id",
                              buckets.id, "color", buckets.category);
  });
}

// The members of a slice that stand wherever one is named.
void write_ref_members(JsonWriter& out, const SliceRef& ref) {
  out.members("id", ref.id, "name", ref.name, "track", ref.track, "depth", ref.depth, "start_ns", ref.start_ns, "dur_ns",
              ref.dur_ns);
}

void write_short_ref(JsonWriter& out, const std::optional<SliceRef>& ref) {
  ref ? out.record("id", ref->id, "name", ref->name) : out.null();
}

void write_cost(JsonWriter& out, const std::optional<SliceCost>& cost) {
  if (!cost) return out.null();
  out.record("flops", cost->flops, "flops_pointwise", cost->flops_pointwise, "bytes_read", cost->bytes_read, "bytes_written",
             cost->bytes_written, "dtype", TextOrNull{cost->dtype}, "estimate", TextOrNull{cost->estimate}, "roof_ns",
             cost->roof_ns, "headroom_ns", cost->headroom_ns, "bound", TextOrNull{cost->bound}, "pct_peak_flops",
             cost->pct_peak_flops, "pct_peak_bandwidth", cost->pct_peak_bandwidth);
}

void write_area_row(JsonWriter& out, const AreaRow& row, bool named) {
  out.object([&] {
    if (named) out.members("name", row.name);
    out.members("category", row.category, "count", row.count, "total_ns", row.total_ns, "self_ns", row.self_ns);
  });
}

// An answer: one object, filled by `fill(out)`.
template <class Fill>
std::string written(std::size_t longest_text, Fill fill) {
  JsonWriter out(longest_text);
  out.object([&] { fill(out); });
  return out.take();
}

}  // namespace

std::string traces_json(std::span<const ListedTrace> traces, const Offers& offers, const Arguments& defaults,
                        std::size_t longest_text) {
  return written(longest_text, [&](JsonWriter& out) {
    out.members("ridge", version());
    out.key("bench").raw(offers.bench ? "true" : "false");
    out.members("before", TextOrNull{offers.before});
    out.key("scope").object([&] {  // which part of the traces is shown unless another is asked for
      for (const std::string_view name : {"step", "from", "to", "gpu"}) {
        if (const auto given = defaults.find(name); given != defaults.end()) out.members(name, given->second);
      }
    });
    std::size_t index = 0;
    out.key("traces").array(traces,
                            [&](const ListedTrace& trace) { out.object([&] { write_trace_members(out, trace, index++); }); });
    std::vector<AnalysisInfo> offered;
    for (const AnalysisInfo& analysis : analyses()) {
      if (offers.diff || analysis.fewest_traces < 2 || analysis.whole_job) offered.push_back(analysis);
    }
    out.key("analyses").array(offered, [&](const AnalysisInfo& analysis) { write_analysis(out, analysis); });
  });
}

std::string trace_json(const ListedTrace& trace, std::size_t index, std::size_t longest_text) {
  return written(longest_text, [&](JsonWriter& out) { write_trace_members(out, trace, index); });
}

std::string tracks_json(const std::vector<TrackGroup>& groups, std::size_t longest_text) {
  return written(longest_text, [&](JsonWriter& out) {
    out.key("groups").array(groups, [&](const TrackGroup& group) {
      out.object([&] {
        out.members("id", group.id, "name", group.name, "labels", group.labels, "kind", group.kind, "sort", group.sort);
        out.key("tracks").array(group.tracks, [&](const TrackInfo& track) { write_track(out, track); });
      });
    });
  });
}

std::string slices_json(const SliceWindow& window, const std::vector<std::string>& categories, std::size_t longest_text) {
  return written(longest_text, [&](JsonWriter& out) {
    out.members("track", window.track, "from", window.from_ns, "to", window.to_ns, "bucket_ns", window.bucket_ns);
    out.key("depths").array(window.depths, [&](const DepthSlices& row) { write_depth(out, row); });
    out.members("names", window.names, "categories", categories);
  });
}

std::string slice_json(const SliceDetails& details, std::size_t longest_text) {
  return written(longest_text, [&](JsonWriter& out) {
    write_ref_members(out, details.slice);
    out.members("category", details.category, "self_ns", details.self_ns);
    out.key("args").object([&] {
      for (const SliceArg& arg : details.args) arg.text ? out.key(arg.key).text(arg.json) : out.key(arg.key).raw(arg.json);
    });
    if (!details.op_name.empty()) {
      out.key("op").record("id", std::optional<std::int64_t>(), "name", details.op_name);
    } else {
      write_short_ref(out.key("op"), details.op);
    }
    out.members("op_from", TextOrNull{details.op_from}, "frame", TextOrNull{details.frame}, "module",
                TextOrNull{details.module});
    write_cost(out.key("cost"), details.cost);
    write_short_ref(out.key("parent"), details.parent);
    out.key("flows").array(details.flows, [&](const SliceFlow& flow) {
      out.object([&] {
        out.members("kind", flow.kind, "direction", flow.direction);
        write_ref_members(out, flow.other);
      });
    });
  });
}

std::string neighbour_json(std::optional<std::uint32_t> id) {
  return written(0, [&](JsonWriter& out) { out.members("id", id); });
}

std::string area_json(const Area& area) {
  return written(0, [&](JsonWriter& out) {
    out.key("busy_pct").object([&] {
      for (const auto& [device, pct] : area.busy_pct) out.members(std::to_string(device), pct);
    });
    out.key("by_name").array(area.by_name, [&](const AreaRow& row) { write_area_row(out, row, true); });
    out.key("by_category").array(area.by_category, [&](const AreaRow& row) { write_area_row(out, row, false); });
    out.members("slices", area.slices);
  });
}

std::string flame_json(const Flame& flame) {
  return written(0, [&](JsonWriter& out) {
    out.key("nodes").array(flame.nodes, [&](const FlameNode& node) {
      out.record("parent", node.parent < 0 ? std::optional<std::int64_t>() : node.parent, "track", node.track, "name",
                 TextOrNull{node.name}, "category", TextOrNull{node.category}, "count", node.count, "total_ns", node.total_ns,
                 "self_ns", node.self_ns);
    });
    out.members("left_out", flame.left_out);
  });
}

std::string search_json(const SearchHits& hits) {
  return written(0, [&](JsonWriter& out) {
    out.members("hits", hits.hits);
    out.key("results").array(hits.results, [&](const SliceRef& ref) { out.object([&] { write_ref_members(out, ref); }); });
    hits.names ? out.members("names", *hits.names) : out.key("names").null();
  });
}

std::string marks_json(const std::vector<Mark>& marks, std::size_t longest_text) {
  return written(longest_text, [&](JsonWriter& out) {
    out.key("marks").array(marks, [&](const Mark& mark) {
      out.record("kind", mark.kind, "start_ns", mark.start_ns, "dur_ns", mark.dur_ns, "track", mark.track, "label", mark.label,
                 "id", mark.id);
    });
  });
}

std::string busy_json(const BusyCurve& curve, std::size_t longest_text) {
  return written(longest_text, [&](JsonWriter& out) {
    out.members("bucket_ns", curve.bucket_ns, "host", curve.host);
    out.key("devices").array(curve.devices,
                             [&](const auto& device) { out.record("device", device.first, "busy", device.second); });
  });
}

std::string rows_json(const std::vector<std::uint32_t>& rows) {
  return written(0, [&](JsonWriter& out) { out.members("rows", rows); });
}

std::string error_json(std::string_view code, std::string_view message, std::string_view hint) {
  return written(0, [&](JsonWriter& out) { out.key("error").record("code", code, "message", message, "hint", hint); });
}

}  // namespace ridge::server
