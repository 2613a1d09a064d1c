// Rows are found by kernel or by op, then held against what else is told of the launch: the one that agrees in most.
#include "predict/kernel_table.h"

#include <algorithm>
#include <cmath>

#include <simdjson.h>

#include "base/try.h"
#include "predict/op_line_checks.h"
#include "predict/op_lines.h"

namespace ridge {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::int64_t kVersion = 1;
constexpr double kMostNs = 1e12;     // a kernel that runs for more than a quarter of an hour was not measured alone
constexpr double kMostApart = 1.25;  // rows of one identity that differ by more are not of one kind of launch
constexpr const char* kTableHint = "ridge bench --save writes such a file";

std::string sizes_as_text(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string tensor_text(const TensorShape& t) {
  return sizes_as_text(t.sizes) + (t.dtype == DType::unknown ? "" : " " + std::string(name_of(t.dtype))) + ";";
}

// Sizes and types of all tensors that have dimensions; scalars stand for numbers as often as for tensors.
std::string tensors_of(const OpCall& call) {
  std::string text;
  for (const OpArgument& a : call.arguments) {
    if (a.kind == OpArgument::Kind::tensor && !a.tensor.sizes.empty()) text += tensor_text(a.tensor);
    for (const TensorShape& t : a.list)
      text += tensor_text({t.sizes, {}, DType::unknown});  // a trace does not tell a list's type
  }
  return text;
}

// Of dimensions that have more than one position; empty where a tensor's are not told.
std::string strides_of(const OpCall& call) {
  std::string text;
  const auto add = [&](const TensorShape& t) {
    if (t.strides.size() != t.sizes.size()) return false;
    for (std::size_t i = 0; i < t.sizes.size(); ++i) {
      if (t.sizes[i] != 1) text += std::to_string(t.strides[i]) + "x";
    }
    text += ";";
    return true;
  };
  for (const OpArgument& a : call.arguments) {
    if (a.kind == OpArgument::Kind::tensor && !a.tensor.sizes.empty() && !add(a.tensor)) return {};
    for (const TensorShape& t : a.list) {
      if (!add(t)) return {};
    }
  }
  return text;
}

// What is no tensor, by position, as the trace has it; a list of equal numbers as the one that stands for all.
std::vector<std::string> constants_of(const OpCall& call) {
  std::vector<std::string> all;
  for (const OpArgument& a : call.arguments) {
    std::string text = a.kind == OpArgument::Kind::value ? a.value : std::string();
    std::erase(text, ' ');
    if (text.starts_with('[') && text.ends_with(']')) {
      const std::string first = text.substr(1, text.find_first_of(",]") - 1);
      std::string repeated = "[" + first;
      while (repeated.size() + 1 < text.size()) repeated += "," + first;
      if (repeated + "]" == text) text = "[" + first + "]";
    }
    all.push_back(std::move(text));
  }
  return all;
}

bool may_be(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!a[i].empty() && !b[i].empty() && a[i] != b[i]) return false;
  }
  return true;
}

std::string_view op_name(std::string_view op) { return op.substr(0, op.find('.')); }

// Whether two texts of which either may not be told can be of the same; `agree` counts those that are told and equal.
bool may_be(std::string_view a, std::string_view b, int* agree) {
  if (a.empty() || b.empty()) return true;
  if (a != b) return false;
  ++*agree;
  return true;
}

bool may_be(const std::optional<Dim3>& a, const std::optional<Dim3>& b, int* agree) {
  if (!a || !b) return true;
  if (*a != *b) return false;
  ++*agree;
  return true;
}

}  // namespace

class KernelTable::Reader {
 public:
  Reader(KernelTable* table, std::string where) : table_(*table), where_(std::move(where)) {}

  Result<void> read(element json) {
    object whole;
    std::int64_t version = 0;
    std::string_view device, torch;
    simdjson::dom::array kernels;
    if (json.get(whole) != simdjson::SUCCESS) return bad("not a JSON object");
    if (whole["ridge_table"].get(version) != simdjson::SUCCESS)
      return bad("no table of measured kernels: it has no 'ridge_table'");
    if (version != kVersion) return bad("a table of version " + std::to_string(version) + ", this ridge reads version 1");
    if (whole["device"].get(device) != simdjson::SUCCESS || device.empty()) return bad("the table names no device");
    if (whole["kernels"].get(kernels) != simdjson::SUCCESS) return bad("the table has no list 'kernels'");
    const auto known = find_device(device);
    table_.device_ = known ? (*known)->name : std::string(device);
    if (whole["torch"].get(torch) == simdjson::SUCCESS) table_.torch_ = torch;
    for (const element each : kernels) {
      ++number_;
      if (auto read = row(each); !read) return read;
    }
    if (table_.rows_.empty()) return bad("the table holds no measured kernel");
    return {};
  }

 private:
  Result<void> bad(const std::string& what) const { return fail(ErrorCode::usage, what, place(), kTableHint); }
  std::string place() const { return number_ > 0 ? where_ + ", kernel " + std::to_string(number_) : where_; }

  // A time of a row: nothing where it has none, an error where it cannot be one.
  Result<std::optional<double>> time(object row, const char* name) const {
    element value;
    if (row[name].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
    double ns = 0;
    if (value.get(ns) == simdjson::SUCCESS && std::isfinite(ns) && ns > 0 && ns <= kMostNs) return ns;
    return tl::unexpected(bad("'" + std::string(name) + "' is no time in ns: " + simdjson::minify(value)).error());
  }

  Result<std::optional<Dim3>> blocks(object row, const char* name) const {
    element value;
    if (row[name].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
    const auto read = parse_dim3(simdjson::minify(value));
    if (read && read->x > 0 && read->y > 0 && read->z > 0) return read;
    return tl::unexpected(bad("'" + std::string(name) + "' is not [x, y, z]: " + simdjson::minify(value)).error());
  }

  static bool is_list(object row, const char* name) {
    element value;
    return row[name].get(value) == simdjson::SUCCESS && value.is_array();
  }

  // With arguments as a line of --ops, and refused where such a line is. `ridge bench` writes tensors alone, those of lists
  // among them: nothing is said of what else the op was given.
  Result<void> tensors(element json, object from, Row* out) const {
    simdjson::dom::object named;
    if (const auto wrong = wrong_field(from)) return bad(*wrong);
    if (is_list(from, "concrete") || from["args"].get(named) == simdjson::SUCCESS) {
      TRY(const std::vector<OpLine> lines, read_op_lines(simdjson::minify(json), place()));
      const OpCall& call = lines.front().call;
      out->tensors = tensors_of(call);
      out->strides = strides_of(call);
      out->constants = constants_of(call);
      return {};
    }
    if (!is_list(from, "shapes")) return {};
    std::string types = "[";
    const simdjson::dom::array shapes = from["shapes"];
    const bool typed = is_list(from, "dtypes");
    if (typed && simdjson::dom::array(from["dtypes"]).size() != shapes.size()) return bad("not as many dtypes as shapes");
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      for (const element size : simdjson::dom::array(shapes.at(i))) {
        std::int64_t value = 0;
        if (size.get(value) != simdjson::SUCCESS || value < 0) return bad("a size is negative or no whole number");
      }
      std::string_view type;
      if (typed && simdjson::dom::array(from["dtypes"]).at(i).get(type) != simdjson::SUCCESS) type = {};
      if (!typed && from["dtypes"].get(type) != simdjson::SUCCESS) type = {};
      types += (i > 0 ? ",\"" : "\"") + std::string(type) + "\"";
    }
    const std::string sizes = simdjson::minify(shapes),
                      strides = is_list(from, "strides") ? simdjson::minify(element(from["strides"])) : "";
    const OpCall call = parse_op_call("", sizes, types + "]", strides, {});
    out->tensors = tensors_of(call);
    out->strides = strides_of(call);
    return {};
  }

  Result<void> row(element json) {
    object from;
    if (json.get(from) != simdjson::SUCCESS) return bad("not a JSON object");
    std::string_view op, kernel;
    if (from["op"].get(op) != simdjson::SUCCESS) op = {};
    if (from["kernel"].get(kernel) != simdjson::SUCCESS) kernel = {};
    if (op.empty() && kernel.empty()) return bad("neither an op nor a kernel is named");
    Row out;
    out.kernel = kernel;
    TRY(out.grid, blocks(from, "grid"));
    TRY(out.block, blocks(from, "block"));
    TRY(const auto warm, time(from, "warm_ns"));
    TRY(const auto cold, time(from, "cold_ns"));
    TRY(const auto low, time(from, "low_ns"));
    TRY(const auto high, time(from, "high_ns"));
    if (!warm && !cold) return bad("neither 'warm_ns' nor 'cold_ns' is told");
    if (low && high && *low > *high) return bad("'low_ns' is above 'high_ns'");
    out.warm_ns = warm.value_or(cold.value_or(0));
    out.cold_ns = cold.value_or(out.warm_ns);
    out.low_ns = std::min({out.warm_ns, out.cold_ns, low.value_or(kMostNs)});
    out.high_ns = std::max({out.warm_ns, out.cold_ns, high.value_or(0)});
    if (const auto read = tensors(json, from, &out); !read) return read;
    const std::size_t at = table_.rows_.size();
    if (!kernel.empty()) table_.by_kernel_[out.kernel].push_back(at);
    if (!op.empty() && !out.tensors.empty()) table_.by_op_[std::string(op_name(op))].push_back(at);
    table_.rows_.push_back(std::move(out));
    return {};
  }

  KernelTable& table_;
  std::string where_;
  std::size_t number_ = 0;  // of the row
};

Result<KernelTable> KernelTable::read(std::string_view text, const std::string& where) {
  simdjson::dom::parser parser;
  element json;
  if (parser.parse(text.data(), text.size()).get(json) != simdjson::SUCCESS)
    return fail(ErrorCode::usage, "not JSON", where, kTableHint);
  KernelTable table;
  if (const auto read = Reader(&table, where).read(json); !read) return tl::unexpected(read.error());
  return table;
}

ExpectedTime KernelTable::time_of(const std::vector<const Row*>& rows) const {
  ExpectedTime out;
  double logs = 0;
  out.low_ns = kMostNs;
  for (const Row* row : rows) {
    logs += std::log(row->warm_ns * row->cold_ns) / 2;
    out.low_ns = std::min(out.low_ns, row->low_ns);
    out.high_ns = std::max(out.high_ns, row->high_ns);
  }
  out.ns = std::clamp(std::exp(logs / static_cast<double>(rows.size())), out.low_ns, out.high_ns);
  out.basis = "measured alone on " + device_ + (torch_.empty() ? "" : ", PyTorch " + torch_);
  return out;
}

std::optional<ExpectedTime> KernelTable::launch(std::string_view kernel, std::optional<Dim3> grid, std::optional<Dim3> block,
                                                const OpCall* call, Used* used) const {
  const auto found = by_kernel_.find(kernel);
  if (found == by_kernel_.end()) return std::nullopt;
  const bool told = call != nullptr && call->has_shapes;
  const std::string tensors = told ? tensors_of(*call) : std::string(), strides = told ? strides_of(*call) : std::string();
  const auto constants = told ? constants_of(*call) : std::vector<std::string>();
  std::vector<const Row*> best;
  int most = -1;
  for (const std::size_t at : found->second) {
    const Row& row = rows_[at];
    int agree = 0;
    if (!may_be(row.grid, grid, &agree) || !may_be(row.block, block, &agree) || !may_be(row.tensors, tensors, &agree) ||
        !may_be(row.strides, strides, &agree) || !may_be(row.constants, constants))
      continue;
    if (agree > most) best.clear(), most = agree;
    if (agree == most) best.push_back(&row);
  }
  if (best.empty()) return std::nullopt;
  const ExpectedTime out = time_of(best);
  const auto [least, greatest] = std::ranges::minmax(best, {}, [](const Row* r) { return r->warm_ns * r->cold_ns; });
  if (std::sqrt(greatest->warm_ns * greatest->cold_ns / (least->warm_ns * least->cold_ns)) > kMostApart) return std::nullopt;
  add_used(best, used);
  return out;
}

void KernelTable::add_used(const std::vector<const Row*>& rows, Used* used) const {
  for (const Row* row : rows) {
    if (used != nullptr) used->insert(static_cast<std::size_t>(row - rows_.data()));
  }
}

std::optional<ExpectedTime> KernelTable::call(const OpCall& call, Used* used) const {
  const auto found = by_op_.find(op_name(call.op));
  if (found == by_op_.end() || !call.has_shapes) return std::nullopt;
  const std::string tensors = tensors_of(call), strides = strides_of(call);
  const auto constants = constants_of(call);
  // By kernel, grid and block, since each of them runs; of one that was measured several times, all.
  std::map<std::string, std::vector<const Row*>> kernels;
  int most = -1;
  for (const std::size_t at : found->second) {
    const Row& row = rows_[at];
    int agree = 0;
    if (row.tensors != tensors || !may_be(row.strides, strides, &agree) || !may_be(row.constants, constants)) continue;
    if (agree > most) kernels.clear(), most = agree;
    if (agree < most) continue;
    const auto text = [](const std::optional<Dim3>& d) {
      return d ? " " + std::to_string(d->x) + "," + std::to_string(d->y) + "," + std::to_string(d->z) : std::string();
    };
    kernels[row.kernel + text(row.grid) + text(row.block)].push_back(&row);
  }
  if (kernels.empty()) return std::nullopt;
  ExpectedTime out;
  for (const auto& [name, rows] : kernels) {
    const ExpectedTime one = time_of(rows);
    add_used(rows, used);
    out.ns += one.ns, out.low_ns += one.low_ns, out.high_ns += one.high_ns;
    out.basis = one.basis;
  }
  return out;
}

}  // namespace ridge
