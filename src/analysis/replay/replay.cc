// Chooses the calls that are asked for, finds the sources of Triton kernels, and has scripts made. Tables at the end.
#include "analysis/replay/replay.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "analysis/kernel/kernel_choice.h"
#include "analysis/shared/cells.h"
#include "base/nearest.h"
#include "base/saturating.h"
#include "base/try.h"
#include "cost/triton/named_sources.h"
#include "facts/scoped_work.h"
#include "kernel_names/kernel_description.h"
#include "replay/script.h"
#include "trace/args.h"

namespace ridge {
namespace {

// Of a kernel's or op's name what a file's name may hold.
std::string file_part(std::string_view name, std::size_t most) {
  std::string out;
  for (const char c : name) {
    if (out.size() >= most || c == '<' || c == '(') break;
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80;
    if (plain) out += c;
    if (!plain && !out.empty() && out.back() != '_') out += '_';
  }
  while (out.ends_with('_')) out.pop_back();
  return out;
}

std::string file_name(std::size_t number, const ReplayCall& call) {
  constexpr std::size_t kMostOfName = 40;
  const std::string own = file_part(call.triton ? call.launch.kernel : call.op, kMostOfName);
  return fmt::format("{:04}_{}.py", number, own.empty() ? "kernel" : own);
}

std::string without_spaces(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out), [](char c) { return c != ' '; });
  return out;
}

// Sizes of tensors as a person may write them: "4096x1024, 1024x4096" (x or X), "[4096, 1024], [1024, 4096]", or these in one
// more pair of brackets; "()" and "[]" are a scalar. "4096x1024,1024x4096" is what comes of all of them.
std::string plain_shapes(std::string_view given) {
  std::string text = without_spaces(given), out;
  std::ranges::replace(text, 'X', 'x');
  if (text.starts_with("[[") && text.ends_with("]]")) text = text.substr(1, text.size() - 2);
  bool inside = false;
  for (const char c : text) {
    if (c == '[' || c == '(') inside = true;
    if ((c == ']' || c == ')') && (out.empty() || out.ends_with(','))) out += "()";
    if (c == ']' || c == ')') inside = false;
    if (std::string_view("[]()").find(c) == std::string_view::npos) out += inside && c == ',' ? 'x' : c;
  }
  return out;
}

// The sizes of its tensors, the first of these, or the text of "Input Dims".
bool has_shape(const ReplayCall& call, std::string_view wanted) {
  if (wanted.starts_with('[') && without_spaces(call.dims) == without_spaces(wanted)) return true;
  const std::string text = plain_shapes(wanted), own = plain_shapes(shape_text(call.call));
  return own == text || own.starts_with(text + ",");
}

// Of several names that hold the text, the one that is equal to it counts alone.
bool same_op(std::string_view op, std::string_view wanted) { return op == wanted || op == "aten::" + std::string(wanted); }

Result<std::string_view> choose(const std::vector<ReplayCall>& calls, const std::string& wanted) {
  std::map<std::string_view, std::string> labels;  // as everywhere: what a person can read and type
  std::vector<KernelCandidate> candidates;
  for (const ReplayCall& call : calls) {
    const auto [label, is_new] = labels.try_emplace(call.launch.kernel);
    if (!is_new) continue;
    label->second = describe_kernel(call.launch.kernel).label;
    candidates.push_back({call.launch.kernel, label->second, call.time_ns});
  }
  return choose_kernel(candidates, wanted);
}

// An op that launches nothing itself: what it calls does, "aten::conv2d" through aten::cudnn_convolution.
std::string called_by(const Scope& scope, std::string_view wanted) {
  const Model& model = scope.model();
  constexpr int kDeepest = 64;
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> found;
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    NodeId node = op_of(model, work.row);
    for (int depth = 0; node != kNoNode && depth < kDeepest && found.size() < kMostNamed; ++depth) {
      const std::string_view name = scope.trace().text(scope.trace().events.name(model.tree().event[node.value]));
      if (same_op(name, wanted)) {
        const std::string op(op_name(model, work.row));
        if (std::ranges::find(found, op) == found.end()) found.push_back(op);
        break;
      }
      node = model.tree().parent[node.value];
    }
  });
  return found.empty() ? std::string() : fmt::format("it calls {}: give --op with that", fmt::join(found, ", "));
}

tl::unexpected<Error> nothing_fits(const Scope& scope, const std::vector<ReplayCall>& calls, const ReplayQuestion& question) {
  std::vector<std::string_view> ops;
  for (const ReplayCall& call : calls) {
    ops.push_back(call.op);
    if (call.op.starts_with("aten::")) ops.push_back(call.op.substr(6));
  }
  const bool op_known = std::ranges::any_of(ops, [&](std::string_view op) { return same_op(op, question.op); });
  if (!question.op.empty() && !op_known) {
    std::string hint = called_by(scope, question.op);
    if (hint.empty()) hint = did_you_mean(question.op, ops);
    return fail(ErrorCode::usage, "no kernel is launched by an op '" + question.op + "'", "", std::move(hint));
  }
  std::string shapes;
  for (const ReplayCall& call : calls) {
    const bool fits = question.op.empty() || same_op(call.op, question.op);
    if (fits && shapes.size() < 200) shapes += (shapes.empty() ? "" : "; ") + shape_text(call.call);
  }
  return fail(ErrorCode::usage, "no such call has the shape '" + question.shape + "'", "", "there is " + shapes);
}

Result<std::vector<ReplayCall>> chosen_calls(const Scope& scope, std::vector<ReplayCall> calls,
                                             const ReplayQuestion& question) {
  std::string_view kernel;
  if (!question.kernel.empty()) {
    TRY(kernel, choose(calls, question.kernel));
  }
  std::vector<ReplayCall> chosen;
  for (const ReplayCall& call : calls) {
    if (!question.kernel.empty() && call.launch.kernel != kernel) continue;
    if (!question.op.empty() && !same_op(call.op, question.op)) continue;
    if (!question.shape.empty() && !has_shape(call, question.shape)) continue;
    chosen.push_back(call);
  }
  if (chosen.empty() && !calls.empty()) return nothing_fits(scope, calls, question);
  return chosen;
}

class ScriptMaker {
 public:
  ScriptMaker(const Scope& scope, const ReplayQuestion& question)
      : question_(question), sources_(dynamic_cast<const NamedKernelSources*>(scope.costs().options().sources)) {}

  // Says in the row why, where there is none.
  void make(ReplayRow* row) const {
    ReplayCall& call = row->call;
    if (!call.cannot.empty()) return;
    if (!call.triton) {
      row->script = op_script(call);
      return;
    }
    const auto source = source_of(call);
    if (!source) {
      call.cannot = source.error().message;
      return;
    }
    if (source->match == SourceMatch::differs) {
      call.source_differs = true;
      const std::string_view said = "its source is not what ran: the trace has another hash; --source named it";
      call.note = std::string(said) + (call.note.empty() ? "" : "; ") + call.note;
    }
    drop_grid(wanted_arguments(*source), &call);
    const std::size_t wanted = wanted_arguments(*source), recorded = call.call.arguments.size();
    if (wanted == recorded)
      row->script = triton_script(call, *source);
    else
      call.cannot = fmt::format("its source takes {} arguments, the trace has {}: not what ran", wanted, recorded);
  }

 private:
  static std::size_t wanted_arguments(const TritonSource& source) { return source.parameters.size() - source.constants.size(); }

  // Templates are given their grid as three more numbers, which are the launcher's and not the kernel's.
  static void drop_grid(std::size_t wanted, ReplayCall* call) {
    std::vector<OpArgument>& arguments = call->call.arguments;
    const auto grid = parse_dim3(call->launch.grid);
    if (!grid || arguments.size() != wanted + 3) return;
    const std::array<std::int64_t, 3> sizes = {grid->x, grid->y, grid->z};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (arguments[wanted + i].value != std::to_string(sizes[i])) return;
    }
    arguments.resize(wanted);
  }

  Result<TritonSource> source_of(const ReplayCall& call) const {
    const SourceTrust trust = question_.trust_source ? SourceTrust::whole : SourceTrust::parsed;
    // With unique names off every kernel is `triton_`: the op has its name.
    const std::string_view name = is_short_triton(call.launch.kernel) ? call.op : call.launch.kernel;
    const auto look = [&](std::string_view text) { return find_triton_source(text, name, call.source.kernel_hash, trust); };
    if (question_.source) return look(*question_.source);
    Result<TritonSource> found =
        fail(ErrorCode::cannot_open, "a Triton kernel without its source: give --inductor-cache, or --source with its file");
    if (sources_ == nullptr) return found;
    // What has the trace's hash before all others; where the trace has none, what takes as many arguments.
    bool other = false;
    for (const std::string& text : sources_->find_named(call.source.kernel_file, name)) {
      Result<TritonSource> one = look(text);
      const bool differs = one ? one->match == SourceMatch::differs : is_other(text, name, call.source.kernel_hash);
      other = other || differs;
      if (differs) continue;
      const bool fits = one && (one->match == SourceMatch::matches || takes_as_many(*one, call));
      if (fits || !found) found = std::move(one);
      if (fits) break;
    }
    if (!found && other)
      return fail(ErrorCode::cannot_open,
                  "the folder has a source of this name, but not the one that ran (the trace has another hash): --source takes "
                  "a file nevertheless");
    return found;
  }

  // A refused source may be another kernel's.
  static bool is_other(const std::string& text, std::string_view name, std::string_view hash) {
    const auto whole = find_triton_source(text, name, hash, SourceTrust::whole);
    return whole && whole->match == SourceMatch::differs;
  }

  static bool takes_as_many(const TritonSource& source, const ReplayCall& call) {
    ReplayCall own = call;
    drop_grid(wanted_arguments(source), &own);
    return wanted_arguments(source) == own.call.arguments.size();
  }

  const ReplayQuestion& question_;
  const NamedKernelSources* sources_;  // none: the user named no folder
};

Result<std::size_t> most_of(const Arguments& arguments) {
  const auto given = arguments.find("top");
  if (given == arguments.end()) return arguments.contains("all") ? 0 : 1;
  std::size_t most = 0;
  const std::string& text = given->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), most);
  if (error != std::errc() || end != text.data() + text.size() || most == 0)
    return fail(ErrorCode::usage, "--top takes a number from 1 on, not '" + text + "'");
  return most;
}

}  // namespace

Result<Replays> compute_replays(const Scope& scope, const ReplayQuestion& question) {
  Replays out;
  std::vector<ReplayCall> calls = replay_calls(scope);
  for (const ReplayCall& call : calls) saturating_add(&out.kernel_time_ns, call.time_ns);
  std::erase_if(calls, [&](const ReplayCall& call) { return !scope.matches(call.launch.kernel); });
  out.selected = !question.kernel.empty() || !question.op.empty() || !question.shape.empty();
  out.scripts = question.scripts;
  TRY(std::vector<ReplayCall> chosen, chosen_calls(scope, std::move(calls), question));
  const ScriptMaker maker(scope, question);
  std::size_t made = 0;
  for (ReplayCall& call : chosen) {
    ReplayRow row{std::move(call), {}, {}};
    const bool wanted = question.scripts && (question.most == 0 || made < question.most);
    if (row.call.triton || wanted) maker.make(&row);  // only the source tells whether a Triton kernel can be made
    if (row.call.cannot.empty() && wanted) row.file = file_name(++made, row.call);
    if (row.file.empty()) row.script = std::string();  // its memory too: there may be very many
    out.rows.push_back(std::move(row));
  }
  return out;
}

namespace {

// One script of several calls that no flag tells apart: their strides, numbers or grids differ.
std::optional<Diagnostic> several_alike(const Replays& replays) {
  const auto has_script = [](const ReplayRow& row) { return !row.file.empty(); };
  const auto made = std::ranges::find_if(replays.rows, has_script);
  if (made == replays.rows.end() || std::ranges::count_if(replays.rows, has_script) > 1) return std::nullopt;
  const std::string shapes = shape_text(made->call.call);
  const auto alike = std::ranges::count_if(replays.rows, [&](const ReplayRow& row) {
    return row.call.cannot.empty() && row.call.launch.kernel == made->call.launch.kernel && row.call.op == made->call.op &&
           row.call.by_compiler == made->call.by_compiler && shape_text(row.call.call) == shapes;
  });
  if (alike < 2) return std::nullopt;
  return Diagnostic{
      "several_calls", alike,
      fmt::format("{} calls have this kernel, op and shapes, with other strides, numbers or grids: this is the one "
                  "with most time; --top with -o FOLDER writes more",
                  alike)};
}

}  // namespace

Report report_replays(const Replays& replays) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.name = "replay";
  table.columns = {{"script", Type::text},
                   {"status", Type::text},
                   {"count", Type::integer, Unit::count},
                   {"time_ns", Type::integer, Unit::ns},
                   {"pct_gpu_time", Type::number, Unit::percent},
                   {"median_ns", Type::integer, Unit::ns},
                   {"op", Type::text},
                   {"shapes", Type::text},
                   {"grid", Type::text},
                   {"block", Type::text},
                   {.name = "reason", .type = Type::text, .sentence = true},
                   {"kernel", Type::text},
                   {.name = "note", .type = Type::text, .sentence = true}};
  const auto by_compiler = [](const ReplayRow& row) { return row.call.by_compiler; };
  const bool compiles = std::ranges::any_of(replays.rows, by_compiler);
  if (compiles) table.columns.push_back({"by_compiler", Type::boolean});
  table.hints.important = {"status", "time_ns", "pct_gpu_time", "count", "op", "shapes", "reason", "kernel"};
  std::int64_t count = 0, time_ns = 0, program_ns = 0, replayed_ns = 0, differ = 0;
  for (const ReplayRow& row : replays.rows) {
    const ReplayCall& call = row.call;
    count += call.count;
    saturating_add(&time_ns, call.time_ns);
    if (!call.by_compiler) saturating_add(&program_ns, call.time_ns);
    if (call.cannot.empty() && !call.by_compiler) saturating_add(&replayed_ns, call.time_ns);
    Row line{cells::text(row.file),
             call.cannot.empty() ? "ok" : "cannot",
             call.count,
             call.time_ns,
             cells::percent(call.time_ns, replays.kernel_time_ns),
             cells::integer(call.median_ns),
             cells::text(call.op),
             cells::text(shape_text(call.call)),
             cells::text(call.launch.grid),
             cells::text(call.launch.block),
             cells::text(call.cannot),
             std::string(call.launch.kernel),
             call.cannot.empty() ? cells::text(call.note) : Cell()};
    if (compiles) line.emplace_back(call.by_compiler);
    table.add_row(line);
    if (call.cannot.empty() && call.source_differs) ++differ;
  }
  table.total = Row{Cell(), Cell(), count, time_ns, cells::percent(time_ns, replays.kernel_time_ns)};
  table.total->resize(table.columns.size());
  if (replays.scripts) {
    Table& scripts = report.tables.emplace_back();
    scripts.name = "scripts";
    scripts.columns = {{"script", Type::text}, {"text", Type::text}};
    for (const ReplayRow& row : replays.rows) {
      if (!row.script.empty()) scripts.add_row({row.file, row.script});
    }
  }
  if (differ > 0)
    report.diagnostics.push_back({"source_differs", differ,
                                  fmt::format("{} of the kernels {} not what ran: their source is of another text than the "
                                              "trace's hash",
                                              differ, differ == 1 ? "is" : "are")});
  if (auto alike = several_alike(replays)) report.diagnostics.push_back(std::move(*alike));
  if (replays.kernel_time_ns == 0)
    report.headline = "no kernels in the recording: record CUDA activity too (ProfilerActivity.CUDA), with record_shapes=True";
  const std::int64_t compiler_ns = time_ns - program_ns;
  if (compiler_ns > 0) report.headline = "all of it is the compiler's own";
  if (program_ns > 0)
    report.headline = fmt::format("{:.1f} % of {} can be run alone",
                                  100.0 * static_cast<double>(replayed_ns) / static_cast<double>(program_ns),
                                  replays.selected  ? "their time"
                                  : compiler_ns > 0 ? "the program's kernel time"
                                                    : "kernel time");
  if (compiler_ns > 0)
    report.diagnostics.push_back(
        {"compiler_calls", std::ranges::count_if(replays.rows, by_compiler),
         fmt::format("the last rows, {:.1f} % of the time, are what the compiler tried out: ridge autotune has the "
                     "configurations",
                     100.0 * static_cast<double>(compiler_ns) / static_cast<double>(time_ns)),
         "info"});
  if (replays.scripts) report.next = "the same with -o FOLDER writes the scripts";
  return report;
}

Result<Report> run_replay(const Scope& scope, const Arguments& arguments) {
  const auto given = [&](std::string_view name) {
    const auto found = arguments.find(name);
    return found == arguments.end() ? std::string() : found->second;
  };
  ReplayQuestion question{.kernel = given("kernel"), .op = given("op"), .shape = given("shape")};
  if (arguments.contains("all") && arguments.contains("top")) return fail(ErrorCode::usage, "give --all or --top, not both");
  TRY(question.most, most_of(arguments));
  question.scripts = arguments.contains("all") || arguments.contains("top") || !question.kernel.empty() ||
                     !question.op.empty() || !question.shape.empty();
  question.trust_source = arguments.contains("trust_source");
  if (arguments.contains("source")) question.source = given("source");
  TRY(const Replays replays, compute_replays(scope, question));
  return report_replays(replays);
}

}  // namespace ridge
