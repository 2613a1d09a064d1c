// A table of keys, each with the function that takes its value.
#include "ingest/metadata_reader.h"

#include <charconv>

#include <simdjson.h>

#include "ingest/json_text.h"

namespace ridge {
namespace {

namespace dom = simdjson::dom;

std::optional<std::int64_t> integer(const dom::element& e) {
  std::int64_t value = 0;
  if (e.get(value) == simdjson::SUCCESS) return value;
  std::string_view text;  // some writers quote their numbers
  if (e.get(text) == simdjson::SUCCESS) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) return value;
  }
  return std::nullopt;
}

std::optional<bool> flag(const dom::element& e) {
  bool value = false;
  if (e.get(value) == simdjson::SUCCESS) return value;
  if (const auto number = integer(e)) return *number != 0;
  return std::nullopt;
}

std::optional<std::string> text(const dom::element& e) {
  std::string_view value;
  if (e.get(value) == simdjson::SUCCESS) return std::string(value);
  return std::nullopt;
}

std::optional<std::int64_t> member(const dom::object& object, const char* key) {
  dom::element e;
  return object.at_key(key).get(e) == simdjson::SUCCESS ? integer(e) : std::nullopt;
}

void read_devices(const dom::element& e, Metadata* metadata) {
  dom::array array;
  if (e.get(array) != simdjson::SUCCESS) return;
  for (const dom::element& row : array) {
    dom::object object;
    if (row.get(object) != simdjson::SUCCESS) continue;
    DeviceProperties device;
    dom::element name;
    if (object.at_key("name").get(name) == simdjson::SUCCESS) device.name = text(name).value_or("");
    device.id = member(object, "id");
    device.memory_bytes = member(object, "totalGlobalMem");
    device.multiprocessors = member(object, "numSms");
    device.compute_major = member(object, "computeMajor");
    device.compute_minor = member(object, "computeMinor");
    device.warp_size = member(object, "warpSize");
    device.threads_per_multiprocessor = member(object, "maxThreadsPerMultiprocessor");
    device.registers_per_multiprocessor = member(object, "regsPerMultiprocessor");
    device.shared_memory_per_multiprocessor = member(object, "sharedMemPerMultiprocessor");
    metadata->devices.push_back(std::move(device));
  }
}

std::optional<ProcessGroup> group(const dom::element& e) {
  dom::object object;
  if (e.get(object) != simdjson::SUCCESS) return std::nullopt;
  ProcessGroup group;
  dom::element found;
  if (object.at_key("pg_name").get(found) == simdjson::SUCCESS) {
    const auto number = integer(found);  // older writers have a number
    group.name = number ? std::to_string(*number) : text(found).value_or("");
  }
  if (object.at_key("pg_desc").get(found) == simdjson::SUCCESS) group.description = text(found).value_or("");
  group.size = member(object, "pg_size");
  dom::array ranks;
  if (object.at_key("ranks").get(ranks) == simdjson::SUCCESS) {
    for (const dom::element& rank : ranks) {
      if (const auto number = integer(rank)) group.ranks.push_back(*number);
    }
  }
  return group;
}

void read_distributed(const dom::element& e, Metadata* metadata) {
  dom::object object;
  if (e.get(object) != simdjson::SUCCESS) return;
  metadata->rank = member(object, "rank");
  metadata->world_size = member(object, "world_size");
  dom::element backend;
  if (object.at_key("backend").get(backend) == simdjson::SUCCESS) metadata->backend = text(backend);
  dom::array groups;
  if (object.at_key("pg_config").get(groups) != simdjson::SUCCESS) return;
  for (const dom::element& row : groups) {
    if (auto found = group(row)) metadata->groups.push_back(std::move(*found));
  }
}

struct Row {
  std::string_view key;
  void (*read)(const dom::element&, Metadata*);
};

constexpr Row kRows[] = {
    {"deviceProperties", read_devices},
    {"distributedInfo", read_distributed},
    {"schemaVersion", [](const dom::element& e, Metadata* m) { m->schema_version = integer(e); }},
    {"baseTimeNanoseconds", [](const dom::element& e, Metadata* m) { m->base_time_ns = integer(e); }},
    {"record_shapes", [](const dom::element& e, Metadata* m) { m->record_shapes = flag(e); }},
    {"with_stack", [](const dom::element& e, Metadata* m) { m->with_stack = flag(e); }},
    {"with_modules", [](const dom::element& e, Metadata* m) { m->with_modules = flag(e); }},
    {"with_flops", [](const dom::element& e, Metadata* m) { m->with_flops = flag(e); }},
    {"profile_memory", [](const dom::element& e, Metadata* m) { m->profile_memory = flag(e); }},
    {"trace_id", [](const dom::element& e, Metadata* m) { m->trace_id = text(e); }},
    {"traceName", [](const dom::element& e, Metadata* m) { m->trace_name = text(e); }},
    {"host_name", [](const dom::element& e, Metadata* m) { m->host_name = text(e); }},
    {"displayTimeUnit", [](const dom::element& e, Metadata* m) { m->display_time_unit = text(e); }},
};

}  // namespace

Metadata read_metadata(const std::vector<TopLevel::Item>& items, Diagnostics* diagnostics) {
  Metadata metadata;
  dom::parser parser;
  for (const TopLevel::Item& item : items) {
    std::string key;
    decode_string(item.key, &key);
    dom::element value;
    const bool readable = parser.parse(item.value).get(value) == simdjson::SUCCESS;
    if (!readable) diagnostics->add(Problem::damaged_metadata, item.offset);
    const Row* row = nullptr;
    for (const Row& candidate : kRows) {
      if (candidate.key == key) row = &candidate;
    }
    if (readable && row != nullptr) {
      row->read(value, &metadata);
    } else if (key.ends_with("_version")) {
      metadata.versions.emplace_back(std::move(key), readable ? text(value).value_or(item.value) : item.value);
    } else {
      metadata.items.emplace_back(std::move(key), item.value);
    }
  }
  return metadata;
}

}  // namespace ridge
