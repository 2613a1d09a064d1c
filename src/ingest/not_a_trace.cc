// What to say of a file that is no trace: what it seems to be, by its first bytes or by its keys, and where it ends.
#include "ingest/not_a_trace.h"

#include <algorithm>

#include "ingest/json_text.h"

namespace ridge {
namespace {

constexpr std::string_view kTruncated = "truncated before its events";

// Keys that tell which other JSON a user handed over.
struct Relative {
  std::string_view key;
  std::string_view meaning;
};
constexpr Relative kRelatives[] = {
    {"rocprofiler-sdk-tool", "a rocprofiler-sdk result"},
    {"nodes", "a PyTorch execution trace (a graph of operators without times)"},
    {"cells", "a Jupyter notebook"},
    {"segments", "a memory snapshot"},
};

struct Signature {
  std::string_view bytes;
  std::size_t at;
  std::string_view meaning;
};

using namespace std::string_view_literals;

constexpr Signature kSignatures[] = {
    {"PK\x03\x04"sv, 0, "a ZIP archive (unpack it first; a .pt or .pt2 file is one too)"},
    {"BZh"sv, 0, "bzip2-compressed (decompress it first: bunzip2)"},
    {"\xFD"
     "7zXZ"sv,
     0, "xz-compressed (decompress it first: unxz)"},
    {"\x04\x22\x4D\x18"sv, 0, "lz4-compressed (decompress it first: unlz4)"},
    {"7z\xBC\xAF"sv, 0, "a 7z archive (unpack it first)"},
    {"ustar"sv, 257, "a tar archive (unpack it first)"},
    {"SQLite format 3"sv, 0, "an SQLite database (an Nsight Systems export?)"},
    {"\x7F"
     "ELF"sv,
     0, "an ELF binary"},
    {"\x80\x04"sv, 0, "a Python pickle (a memory snapshot?)"},
    {"\x80\x02"sv, 0, "a Python pickle"},
    {"\xFF\xFE"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"\xFE\xFF"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"{\0"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"[\0"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"\0{"sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"\0["sv, 0, "UTF-16 text (convert it to UTF-8 first)"},
    {"%PDF"sv, 0, "a PDF document"},
    {"\x89PNG"sv, 0, "a PNG image"},
    {"<!DOCTYPE"sv, 0, "an HTML page (a failed download?)"},
    {"<!doctype"sv, 0, "an HTML page (a failed download?)"},
    {"<html"sv, 0, "an HTML page (a failed download?)"},
    {"<?xml"sv, 0, "an XML document"},
    {"version https://git-lfs"sv, 0, "a Git LFS pointer, not the file itself (git lfs pull)"},
};

}  // namespace

std::string_view describe_content(std::string_view prefix) {
  for (const Signature& signature : kSignatures) {
    if (prefix.size() > signature.at && prefix.substr(signature.at).starts_with(signature.bytes)) return signature.meaning;
  }
  const bool binary = std::any_of(prefix.begin(), prefix.end(), [](char c) { return c == '\0'; });
  return binary ? "a binary file" : "";
}

Error not_a_trace(const OpenedSource& opened, const std::string& path, const TopLevel& top) {
  const auto error = [&](ErrorCode code, std::string message) {
    return Error{code, std::move(message), path, std::string(kRecordOne)};
  };
  const bool damaged = opened.source->damage().any();
  if (opened.source->damage()[Problem::damaged_compression].count > 0)
    return error(ErrorCode::truncated, "the compressed data is damaged before the trace's events");
  if (opened.prefix.empty())
    return error(ErrorCode::truncated, "the file is empty: " + std::string(kTruncated) + ", or never written");
  if (!top.saw_anything()) {
    const std::string what = damaged || opened.compressed() ? "the compressed trace is " : "the file holds only white space: ";
    return error(ErrorCode::truncated, what + std::string(kTruncated));
  }
  if (!top.is_json()) {
    if (!opened.compressed() && check_json(opened.prefix, SIZE_MAX) == JsonState::whole)
      return error(ErrorCode::not_a_trace, "JSON without trace events: it is a single value");
    std::string_view seems = describe_content(opened.prefix);
    if (opened.compressed()) seems = "compressed data that is not JSON";
    return error(ErrorCode::not_a_trace,
                 "not a trace" + (seems.empty() ? ": it is not JSON" : ": it looks like " + std::string(seems)));
  }
  if (const auto lost = top.lost_at(); lost && !damaged) {
    const std::string_view seems = describe_content(opened.prefix);
    if (!seems.empty()) return error(ErrorCode::not_a_trace, "not a trace: it looks like " + std::string(seems));
    return error(ErrorCode::not_a_trace, "no trace events were found: invalid JSON at byte " + std::to_string(*lost));
  }
  if (const auto& nested = top.nested_events()) {
    const std::string where =
        "\"traceEvents\" is nested inside \"" + nested->member.substr(0, 40) + "\", at byte " + std::to_string(nested->offset);
    if (!top.complete())
      return error(ErrorCode::truncated,
                   "the trace is " + std::string(kTruncated) + ", or a brace before them is missing: " + where);
    return {ErrorCode::not_a_trace, "JSON without trace events at the top level: " + where, path,
            "extract that member into its own file"};
  }
  if (!top.complete()) return error(ErrorCode::truncated, "the trace is " + std::string(kTruncated));
  constexpr std::string_view kEvents = "traceEvents";
  if (std::ranges::find(top.items(), kEvents, &TopLevel::Item::key) != top.items().end())
    return error(ErrorCode::not_a_trace, "JSON without trace events: its \"traceEvents\" is not an array");
  std::string keys;
  for (std::size_t i = 0; i < std::min<std::size_t>(top.items().size(), 6); ++i) {
    for (const Relative& relative : kRelatives) {
      if (top.items()[i].key == relative.key) {
        return error(ErrorCode::not_a_trace, "not a trace: it looks like " + std::string(relative.meaning));
      }
    }
    keys += (i == 0 ? "" : ", ") + top.items()[i].key.substr(0, 40);
  }
  return error(ErrorCode::not_a_trace,
               "JSON without trace events: no \"traceEvents\" key" + (keys.empty() ? "" : "; its keys are " + keys));
}

}  // namespace ridge
