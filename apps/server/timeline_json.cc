#include "timeline_json.h"

#include "json_writer.h"

namespace ridge::server {
namespace {

void write_iterations(JsonWriter& out, const TraceFacts& facts) {
  out.object([&] {
    out.key("count").number(facts.iteration_count);
    out.key("per").text(facts.per);
    out.key("list").array(facts.iterations, [&](const TraceFacts::Iteration& it) {
      out.object([&] {
        out.key("index").number(it.number);
        out.key("name").text(fmt::format("{} {}", facts.per, it.number));
        out.key("start_ns").number(it.start_ns);
        out.key("end_ns").number(it.end_ns);
      });
    });
  });
}

std::string_view name_of(Type type) {
  constexpr std::string_view kNames[] = {"text", "integer", "number", "boolean"};
  return kNames[static_cast<std::size_t>(type)];
}

void write_analysis(JsonWriter& out, const AnalysisInfo& analysis) {
  out.object([&] {
    out.key("name").text(analysis.name);
    out.key("description").text(analysis.description);
    out.key("parameters").array(analysis.parameters, [&](const Parameter& parameter) {
      out.object([&] {
        out.key("name").text(parameter.name);
        out.key("type").text(name_of(parameter.type));
        out.key("description").text(parameter.description);
      });
    });
  });
}

void write_track(JsonWriter& out, const TrackInfo& track) {
  out.object([&] {
    out.key("id").number(track.id);
    out.key("name").text(track.name);
    out.key("kind").text(track.kind);
    out.key("device").number(track.device);
    out.key("stream").number(track.stream);
    out.key("depth").number(track.depth);
    out.key("slices").number(track.slices);
    out.key("busy_ns").number(track.busy_ns);
  });
}

void write_depth(JsonWriter& out, const DepthSlices& row) {
  out.object([&] {
    out.key("depth").number(row.depth);
    out.key("slices").object([&] {
      out.key("start").numbers(row.slices.start_ns);
      out.key("dur").numbers(row.slices.dur_ns);
      out.key("name").numbers(row.slices.name);
      out.key("id").numbers(row.slices.id);
      out.key("color").numbers(row.slices.category);
    });
    out.key("buckets").object([&] {
      out.key("at").numbers(row.buckets.at);
      out.key("count").numbers(row.buckets.count);
      out.key("busy").numbers(row.buckets.busy);
      out.key("name").numbers(row.buckets.name);
      out.key("id").numbers(row.buckets.id);
      out.key("color").numbers(row.buckets.category);
    });
  });
}

// The members of a slice that stand wherever one is named.
void write_ref_members(JsonWriter& out, const SliceRef& ref) {
  out.key("id").number(ref.id);
  out.key("name").text(ref.name);
  out.key("track").number(ref.track);
  out.key("depth").number(ref.depth);
  out.key("start_ns").number(ref.start_ns);
  out.key("dur_ns").number(ref.dur_ns);
}

void write_short_ref(JsonWriter& out, const std::optional<SliceRef>& ref) {
  if (!ref) return out.null();
  out.object([&] {
    out.key("id").number(ref->id);
    out.key("name").text(ref->name);
  });
}

void write_cost(JsonWriter& out, const std::optional<SliceCost>& cost) {
  if (!cost) return out.null();
  out.object([&] {
    out.key("flops").number(cost->flops);
    out.key("flops_pointwise").number(cost->flops_pointwise);
    out.key("bytes_read").number(cost->bytes_read);
    out.key("bytes_written").number(cost->bytes_written);
    out.key("dtype").text_or_null(cost->dtype);
    out.key("estimate").text_or_null(cost->estimate);
    out.key("roof_ns").number(cost->roof_ns);
    out.key("headroom_ns").number(cost->headroom_ns);
    out.key("bound").text_or_null(cost->bound);
    out.key("pct_peak_flops").number(cost->pct_peak_flops);
    out.key("pct_peak_bandwidth").number(cost->pct_peak_bandwidth);
  });
}

void write_area_row(JsonWriter& out, const AreaRow& row, bool named) {
  out.object([&] {
    if (named) out.key("name").text(row.name);
    out.key("category").text(row.category);
    out.key("count").number(row.count);
    out.key("total_ns").number(row.total_ns);
    out.key("self_ns").number(row.self_ns);
  });
}

}  // namespace

std::string traces_json(std::span<const TraceFacts> traces) {
  JsonWriter out;
  out.object([&] {
    out.key("ridge").text(version());
    std::int64_t index = 0;
    out.key("traces").array(traces, [&](const TraceFacts& facts) {
      out.object([&] {
        out.key("index").number(index++);
        out.key("name").text(facts.name);
        out.key("path_name").text(facts.path);
        out.key("window_ns").number(facts.window_ns);
        out.key("start_unix_ns").number(facts.start_unix_ns);
        out.key("events").number(facts.events);
        write_iterations(out.key("iterations"), facts);
      });
    });
    out.key("analyses").array(analyses(), [&](const AnalysisInfo& analysis) { write_analysis(out, analysis); });
  });
  return out.take();
}

std::string tracks_json(const std::vector<TrackGroup>& groups) {
  JsonWriter out;
  out.object([&] {
    out.key("groups").array(groups, [&](const TrackGroup& group) {
      out.object([&] {
        out.key("id").text(group.id);
        out.key("name").text(group.name);
        out.key("labels").text(group.labels);
        out.key("kind").text(group.kind);
        out.key("sort").number(group.sort);
        out.key("tracks").array(group.tracks, [&](const TrackInfo& track) { write_track(out, track); });
      });
    });
  });
  return out.take();
}

std::string slices_json(const SliceWindow& window, const std::vector<std::string>& categories) {
  JsonWriter out;
  out.object([&] {
    out.key("track").number(window.track);
    out.key("from").number(window.from_ns);
    out.key("to").number(window.to_ns);
    out.key("bucket_ns").number(window.bucket_ns);
    out.key("depths").array(window.depths, [&](const DepthSlices& row) { write_depth(out, row); });
    out.key("names").texts(window.names);
    out.key("categories").texts(categories);
  });
  return out.take();
}

std::string slice_json(const SliceDetails& details) {
  JsonWriter out;
  out.object([&] {
    write_ref_members(out, details.slice);
    out.key("category").text(details.category);
    out.key("self_ns").number(details.self_ns);
    out.key("args").object([&] {
      for (const SliceArg& arg : details.args) arg.text ? out.key(arg.key).text(arg.json) : out.key(arg.key).raw(arg.json);
    });
    write_short_ref(out.key("op"), details.op);
    out.key("frame").text_or_null(details.frame);
    out.key("module").text_or_null(details.module);
    write_cost(out.key("cost"), details.cost);
    write_short_ref(out.key("parent"), details.parent);
    out.key("flows").array(details.flows, [&](const SliceFlow& flow) {
      out.object([&] {
        out.key("kind").text(flow.kind);
        out.key("direction").text(flow.direction);
        write_ref_members(out, flow.other);
      });
    });
  });
  return out.take();
}

std::string neighbour_json(std::optional<std::uint32_t> id) {
  JsonWriter out;
  out.object([&] { out.key("id").number(id); });
  return out.take();
}

std::string area_json(const Area& area) {
  JsonWriter out;
  out.object([&] {
    out.key("busy_pct").object([&] {
      for (const auto& [device, pct] : area.busy_pct) out.key(std::to_string(device)).number(pct);
    });
    out.key("by_name").array(area.by_name, [&](const AreaRow& row) { write_area_row(out, row, true); });
    out.key("by_category").array(area.by_category, [&](const AreaRow& row) { write_area_row(out, row, false); });
    out.key("slices").number(area.slices);
  });
  return out.take();
}

std::string search_json(const SearchHits& hits) {
  JsonWriter out;
  out.object([&] {
    out.key("hits").number(hits.hits);
    out.key("results").array(hits.results, [&](const SliceRef& ref) { out.object([&] { write_ref_members(out, ref); }); });
  });
  return out.take();
}

std::string marks_json(const std::vector<Mark>& marks) {
  JsonWriter out;
  out.object([&] {
    out.key("marks").array(marks, [&](const Mark& mark) {
      out.object([&] {
        out.key("kind").text(mark.kind);
        out.key("start_ns").number(mark.start_ns);
        out.key("dur_ns").number(mark.dur_ns);
        out.key("track").number(mark.track);
        out.key("label").text(mark.label);
        out.key("id").number(mark.id);
      });
    });
  });
  return out.take();
}

std::string busy_json(const BusyCurve& curve) {
  JsonWriter out;
  out.object([&] {
    out.key("bucket_ns").number(curve.bucket_ns);
    out.key("host").numbers(curve.host);
    out.key("devices").array(curve.devices, [&](const auto& device) {
      out.object([&] {
        out.key("device").number(device.first);
        out.key("busy").numbers(device.second);
      });
    });
  });
  return out.take();
}

std::string error_json(std::string_view code, std::string_view message, std::string_view hint) {
  JsonWriter out;
  out.object([&] {
    out.key("error").object([&] {
      out.key("code").text(code);
      out.key("message").text(message);
      out.key("hint").text(hint);
    });
  });
  return out.take();
}

}  // namespace ridge::server
