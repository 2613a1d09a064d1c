// Which row of the table a device of a trace is.
//
//  1. A word that makes it another device (a MIG slice, a laptop's chip) or a part of one: none.
//  2. The rows whose words all stand in the name; those with most words, and of these whose multiprocessors and memory agree
//  best.
//  3. A name that says only the family ("NVIDIA H100" with 114 multiprocessors): the one row of the family that agrees in both
//  figures.
//  4. No name, or one of no device ("AMD Radeon Graphics"): the one row that agrees in both figures.
//
// The number of multiprocessors contradicts a name (a partition of an MI300X bears the name of the whole): then it is none,
// because a wrong roof is worse than no roof. Memory never does: it only chooses, since reserved memory and custom parts vary.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/nearest.h"
#include "device/device.h"
#include "device/device_name.h"
#include "device/device_table.h"

namespace ridge {
namespace {

constexpr double kSameMultiprocessors = 0.08;              // MI250 and MI250X differ by 6 %, H100 PCIe and SXM by 14 %
constexpr double kLeastMemory = 0.85, kMostMemory = 1.06;  // of the sheet's figure: a driver keeps some, ECC takes some

// Words that no row has: whoever bears one is not the device that the rest of its name says.
constexpr std::array<std::string_view, 8> kOtherDevice = {"mig", "laptop", "mobile", "d", "ti", "super", "max", "q"};

bool is_other_device(const std::vector<std::string>& words, std::string_view row_words) {
  return std::ranges::any_of(kOtherDevice, [&](std::string_view other) {
    return std::ranges::count(words, other) > 0 && !holds_all(device_words(row_words), other);
  });
}

std::size_t count_words(std::string_view words) { return static_cast<std::size_t>(std::ranges::count(words, ' ')) + 1; }
std::string_view family(const DeviceRow& row) { return row.names.front().substr(0, row.names.front().find(' ')); }

// How many words of the row's best name stand in the device's; 0 when none fits whole.
std::size_t words_in_common(const DeviceRow& row, const std::vector<std::string>& words) {
  std::size_t most = 0;
  for (const std::string_view name : row.names) {
    if (holds_all(words, name) && !is_other_device(words, name)) most = std::max(most, count_words(name));
  }
  return most;
}

// 0: equal; infinite: contradictory; nothing to compare counts as a small difference.
double multiprocessor_difference(const DeviceSpec& spec, const DeviceTraits& traits) {
  if (spec.multiprocessors == 0 || traits.multiprocessors <= 0) return kSameMultiprocessors;
  const auto wanted = static_cast<double>(spec.multiprocessors);
  const double difference = std::abs(static_cast<double>(traits.multiprocessors) - wanted) / wanted;
  return difference <= kSameMultiprocessors ? difference : std::numeric_limits<double>::infinity();
}

bool same_memory(const DeviceSpec& spec, const DeviceTraits& traits) {
  return spec.memory_bytes > 0 && traits.memory_bytes >= kLeastMemory * spec.memory_bytes &&
         traits.memory_bytes <= kMostMemory * spec.memory_bytes;
}

double memory_difference(const DeviceSpec& spec, const DeviceTraits& traits) {
  if (spec.memory_bytes <= 0 || traits.memory_bytes <= 0) return 0;
  return std::abs(std::log(traits.memory_bytes / spec.memory_bytes));
}

bool same_figures(const DeviceSpec& a, const DeviceSpec& b) {
  return a.f16.high == b.f16.high && a.bandwidth.high == b.bandwidth.high;
}

// The nearest of the rows; nullptr when two of them are as near and differ in what they can do.
const DeviceSpec* nearest_row(const std::vector<const DeviceRow*>& rows, const DeviceTraits& traits) {
  const auto distance = [&](const DeviceRow* row) {
    return std::pair(multiprocessor_difference(row->spec, traits), memory_difference(row->spec, traits));
  };
  const auto best = std::ranges::min_element(rows, {}, distance);
  if (best == rows.end() || std::isinf(distance(*best).first)) return nullptr;
  for (const DeviceRow* row : rows) {
    if (distance(row) == distance(*best) && !same_figures(row->spec, (*best)->spec)) return nullptr;
  }
  return &known_devices()[static_cast<std::size_t>(*best - device_rows().data())];
}

std::vector<const DeviceRow*> rows_named(const std::vector<std::string>& words) {
  std::size_t most = 1;
  for (const DeviceRow& row : device_rows()) most = std::max(most, words_in_common(row, words));
  std::vector<const DeviceRow*> rows;
  for (const DeviceRow& row : device_rows()) {
    if (words_in_common(row, words) == most) rows.push_back(&row);
  }
  return rows;
}

// Rows that agree in both figures, which both must be known.
std::vector<const DeviceRow*> rows_like(const DeviceTraits& traits, std::string_view family_word, std::string_view vendor) {
  std::vector<const DeviceRow*> rows;
  for (const DeviceRow& row : device_rows()) {
    const bool same =
        row.spec.multiprocessors != 0 && row.spec.multiprocessors == traits.multiprocessors && same_memory(row.spec, traits);
    if (same && (family_word.empty() || family(row) == family_word) && (vendor.empty() || row.spec.vendor == vendor))
      rows.push_back(&row);
  }
  return rows;
}

const DeviceSpec* only_row(const std::vector<const DeviceRow*>& rows, const DeviceTraits& traits) {
  for (const DeviceRow* row : rows) {
    if (!same_figures(row->spec, rows.front()->spec)) return nullptr;
  }
  return nearest_row(rows, traits);
}

std::string_view vendor_in(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kVendors = {
      {{"NVIDIA", "NVIDIA"}, {"AMD", "AMD"}, {"Intel", "Intel"}}};
  for (const auto& [word, vendor] : kVendors) {
    if (name.find(word) != std::string_view::npos) return vendor;
  }
  return {};
}

// The devices whose family is nearly one of the words: "h20o" is nearly "h200".
std::string near_families(const std::vector<std::string>& words) {
  std::vector<std::string_view> families;
  for (const DeviceRow& row : device_rows()) {
    if (std::ranges::count(families, family(row)) == 0) families.push_back(family(row));
  }
  std::string hint;
  for (const std::string& word : words) {
    for (const std::string& near : nearest_names(word, families)) {
      const auto row = std::ranges::find(device_rows(), near, [](const DeviceRow& r) { return family(r); });
      hint += (hint.empty() ? "did you mean " : ", ") + row->spec.name;
    }
  }
  return hint.empty() ? hint : hint + "?";
}

}  // namespace

const DeviceSpec* match_device(const DeviceTraits& traits) {
  const std::vector<std::string> words = device_words(traits.name);
  if (words.empty()) return only_row(rows_like(traits, "", vendor_in(traits.name)), traits);
  if (const std::vector<const DeviceRow*> rows = rows_named(words); !rows.empty()) {
    if (const DeviceSpec* spec = nearest_row(rows, traits)) return spec;
  }
  for (const std::string& word : words) {
    if (is_other_device(words, word)) return nullptr;
    const std::vector<const DeviceRow*> rows = rows_like(traits, word, "");
    if (!rows.empty()) return only_row(rows, traits);
  }
  return nullptr;
}

Result<const DeviceSpec*> find_device(std::string_view name) {
  for (const DeviceSpec& spec : known_devices()) {
    if (spec.name == name) return &spec;
  }
  const std::vector<std::string> words = device_words(name);
  if (const DeviceSpec* spec = match_device({.name = std::string(name)}); spec != nullptr && !words.empty()) return spec;
  std::string candidates;
  std::vector<std::string_view> names;
  for (const DeviceRow& row : device_rows()) {
    names.push_back(row.spec.name);
    const bool among = !words.empty() && (!rows_named(words).empty() ? words_in_common(row, words) > 0
                                                                     : std::ranges::count(words, family(row)) > 0);
    if (among) candidates += (candidates.empty() ? "" : ", ") + row.spec.name;
  }
  if (!candidates.empty())
    return fail(ErrorCode::usage, "'" + std::string(name) + "' matches several devices", "", "choose one: " + candidates);
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = near_families(words);
  if (hint.empty()) hint = "ridge devices lists known devices; --device-file FILE describes another";
  return fail(ErrorCode::usage, "unknown device '" + std::string(name) + "'", "", std::move(hint));
}

}  // namespace ridge
