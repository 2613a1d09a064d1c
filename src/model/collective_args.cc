// Reads them from where the trace has them, the kernel itself first, then what stands around its launch.
#include "model/collective_args.h"

#include <algorithm>
#include <iterator>

#include "ops/op_call.h"

namespace ridge {
namespace {

// As collectives spell element types; of several names for one type the first is shown.
struct ElementType {
  std::string_view name;
  DType dtype;
};
constexpr ElementType kElementTypes[] = {
    {"Float", DType::f32},      {"Double", DType::f64},       {"Half", DType::f16},           {"BFloat16", DType::bf16},
    {"Byte", DType::u8},        {"Char", DType::i8},          {"Short", DType::i16},          {"Int", DType::i32},
    {"Long", DType::i64},       {"Bool", DType::boolean},     {"Float8", DType::f8},          {"Float8_e4m3fn", DType::f8},
    {"Float8_e5m2", DType::f8}, {"ComplexFloat", DType::c64}, {"ComplexDouble", DType::c128},
};

std::optional<std::int64_t> element_bytes(std::string_view name) {
  const auto* row = std::ranges::find(kElementTypes, name, &ElementType::name);
  return row == std::end(kElementTypes) ? std::nullopt : std::optional(static_cast<std::int64_t>(item_bytes(row->dtype)));
}

std::string spelling_of(DType dtype) {
  const auto* row = std::ranges::find(kElementTypes, dtype, &ElementType::dtype);
  return std::string(row == std::end(kElementTypes) ? name_of(dtype) : row->name);
}

std::string without_underscores(std::string_view name) {
  std::string out(name);
  std::erase(out, '_');
  return out;
}

// Of so many elements; unknown where no memory is as large.
std::optional<std::int64_t> bytes_of(std::optional<std::int64_t> elements, std::int64_t element_bytes) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000'000;
  if (!elements || *elements < 0 || *elements > kMost / element_bytes) return std::nullopt;
  return *elements * element_bytes;
}

// Collectives whose tensors count once: what a rank gives stands as what it gets too, or the other way. Of a broadcast and a
// reduction to one rank, which of the two it does is not told: it counts as one of many that get, or give.
struct OneWay {
  std::string_view name;  // how it begins, without underscores
  bool gives;
};
constexpr OneWay kOneWay[] = {{"send", true}, {"recv", false}, {"broadcast", false}, {"reduce", true}};

// Which of several equal sizes count.
void keep_own_side(std::string_view plain, std::optional<std::int64_t>* given, std::optional<std::int64_t>* got) {
  const auto* row = std::ranges::find_if(kOneWay, [&](const OneWay& o) { return plain.starts_with(o.name); });
  if (row == std::end(kOneWay) || plain.starts_with("reducescatter") || *given != *got || !*given) return;
  (row->gives ? *got : *given) = 0;
}

// What the call of a collective says of its tensors, where the profiler recorded shapes: PyTorch before 2.1 writes no more.
struct TensorBytes {
  std::optional<std::int64_t> largest, smallest;  // of an argument; a list counts as a whole
  DType dtype = DType::unknown;
};

TensorBytes tensor_bytes(const OpCall& call, DType of_lists) {
  TensorBytes found;
  std::size_t arguments = 0;
  for (const OpArgument& argument : call.arguments) {
    std::vector<TensorShape> tensors = argument.list;
    if (argument.kind == OpArgument::Kind::tensor) tensors = {argument.tensor};
    double bytes = 0;
    for (const TensorShape& tensor : tensors) {
      const DType dtype = tensor.dtype == DType::unknown ? of_lists : tensor.dtype;
      if (dtype == DType::unknown) return {};
      bytes += numel(tensor) * item_bytes(dtype);
      if (found.dtype == DType::unknown) found.dtype = dtype;
    }
    if (tensors.empty() || bytes > 1e18) continue;
    const auto whole = static_cast<std::int64_t>(bytes);
    found.smallest = ++arguments == 1 ? whole : std::min(*found.smallest, whole);
    found.largest = std::max(found.largest.value_or(0), whole);
  }
  if (arguments < 2) found.smallest = std::nullopt;
  return found;
}

constexpr std::string_view kNccl = "nccl:", kC10d = "c10d::";

}  // namespace

std::optional<std::int64_t> CollectiveArgs::bytes() const {
  if (!given_bytes && !got_bytes) return std::nullopt;
  return std::max(given_bytes.value_or(0), got_bytes.value_or(0));
}

CollectiveReader::CollectiveReader(const Model& model)
    : model_(model), table_(collectives(model.trace())), ops_(ops(model.trace())) {}

CollectiveArgs CollectiveReader::read(std::size_t row) {
  const EventId event = model_.trace().of(EventClass::device_work)[row];
  const CallEvents events = events_of(row, event);
  const EventId source = events.comms == kNoEvent ? event : events.comms;
  CollectiveArgs args;
  args.name = text(table_.name, source);
  if (args.name.empty())
    args.name = events.annotation == kNoEvent ? model_.identities()[row].label
                                              : std::string(name_of_event(events.annotation).substr(kNccl.size()));
  args.group = text(table_.group_description, source);
  if (args.group.empty() || args.group == "undefined") args.group = text(table_.group_name, source);
  args.process_group = text(table_.group_name, source);
  args.members = text(table_.group_ranks, source);
  args.sequence = table_.sequence.integer(source);
  args.source_rank = table_.source_rank.integer(source);
  args.destination_rank = table_.destination_rank.integer(source);
  args.dtype = text(table_.dtype, source);
  args.ranks = table_.group_size.integer(source);
  if (args.ranks && *args.ranks < 1) args.ranks = std::nullopt;
  const auto in = table_.in_elements.integer(source), out = table_.out_elements.integer(source);
  const auto size = element_bytes(args.dtype);
  if (size && (in || out)) {
    add_bytes(bytes_of(in, *size), bytes_of(out, *size), source, source == event, &args);
  } else {
    read_tensors(events, &args);
  }
  return args;
}

CollectiveReader::CallEvents CollectiveReader::events_of(std::size_t row, EventId event) const {
  CallEvents events;
  if (table_.name.text(event)) events.comms = event;
  constexpr int kMostLevels = 256;  // they stand right around the launch
  NodeId n = model_.links().launch[row];
  for (int levels = 0; n != kNoNode && levels < kMostLevels; n = model_.tree().parent[n.value], ++levels) {
    const EventId around = model_.tree().event[n.value];
    const EventClass c = model_.tree().class_of(n);
    const std::string_view name = name_of_event(around);
    if (events.comms == kNoEvent && table_.name.text(around)) events.comms = around;
    if (c == EventClass::annotation && events.annotation == kNoEvent && name.starts_with(kNccl)) events.annotation = around;
    if (c != EventClass::op || !name.starts_with(kC10d)) continue;
    events.call = around;
    break;
  }
  return events;
}

// Shapes of the call: both what is given and what is got. The annotation has what is given, and the type of lists.
void CollectiveReader::read_tensors(const CallEvents& events, CollectiveArgs* args) {
  const auto tensors_of = [&](EventId event, DType of_lists) {
    if (event == kNoEvent) return TensorBytes();
    return tensor_bytes(parse_op_call(name_of_event(event), text(ops_.input_dims, event), text(ops_.input_type, event), {}, {}),
                        of_lists);
  };
  const TensorBytes given = tensors_of(events.annotation, DType::unknown);
  const TensorBytes all = tensors_of(events.call, given.dtype);
  const DType dtype = all.dtype == DType::unknown ? given.dtype : all.dtype;
  if (args->dtype.empty()) args->dtype = spelling_of(dtype);
  // Of a gather a rank gets more than it gives, of a scatter the root gives more.
  const std::string plain = without_underscores(args->name);
  const bool gathers = plain.find("gather") != plain.npos, scatters = plain.find("scatter") != plain.npos;
  if (all.largest) {
    const std::int64_t most = std::max(*all.largest, given.largest.value_or(0));
    const auto least = all.smallest ? all.smallest : gathers ? given.largest : std::nullopt;
    add_bytes(gathers ? least : most, scatters ? least : most, events.call, false, args);
  } else if (given.largest && !gathers && (!scatters || plain.starts_with("reduce"))) {
    add_bytes(given.largest, scatters ? std::nullopt : given.largest, events.annotation, false, args);
  }
}

// Several kernels of one call: its bytes count once.
void CollectiveReader::add_bytes(std::optional<std::int64_t> given, std::optional<std::int64_t> got, EventId source,
                                 bool of_kernel, CollectiveArgs* args) {
  keep_own_side(without_underscores(args->name), &given, &got);
  const bool counts = of_kernel || seen_.insert(source.value).second;
  args->given_bytes = counts ? given : std::optional<std::int64_t>(0);
  args->got_bytes = counts ? got : std::optional<std::int64_t>(0);
}

std::string_view CollectiveReader::name_of_event(EventId event) const {
  return model_.trace().text(model_.trace().events.name(event));
}

std::string CollectiveReader::text(const ArgColumn& column, EventId event) const {
  const auto id = column.text(event);
  return id ? std::string(model_.trace().text(*id)) : std::string();
}

}  // namespace ridge
