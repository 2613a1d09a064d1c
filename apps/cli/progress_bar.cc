// When the line is drawn and what it says: percent, bytes, rate, seconds left.
#include "progress_bar.h"

#include <cmath>

#include <unistd.h>

#include <fmt/format.h>

#include <ridge/render.h>

#include "standard_streams.h"
#include "terminal.h"

namespace ridge::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kSilence = 500ms;
constexpr auto kBetweenLines = 100ms;
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

std::string progress_line(const Progress& progress, double seconds) {
  const auto done = static_cast<double>(progress.done);
  const auto total = static_cast<double>(progress.total);
  const double per_second = seconds > 0 ? done / seconds : 0;
  std::string line(progress.phase);
  if (progress.total > 0) line += fmt::format("  {:.0f} %", std::floor(std::min(100.0, 100 * done / total)));
  line += "  " + with_unit(done, Unit::bytes);
  if (progress.total > 0) line += " of " + with_unit(total, Unit::bytes);
  if (per_second > 0) line += "  " + with_unit(per_second, Unit::bytes_per_s);
  if (per_second > 0 && total > done) line += fmt::format("  {:.0f} s left", std::ceil((total - done) / per_second));
  return line;
}

void ProgressBar::update(const Progress& progress) {
  if (!enabled_) return;
  const auto now = Clock::now();
  if (progress.phase != phase_) {
    phase_ = progress.phase;
    phase_started_ = now;
  }
  if (now - started_ < kSilence || (drawn_ && now - last_drawn_ < kBetweenLines)) return;
  std::string line = progress_line(progress, std::chrono::duration<double>(now - phase_started_).count());
  const int columns = columns_of(STDERR_FILENO);
  if (columns > 1)
    line.resize(std::min(line.size(), static_cast<std::size_t>(columns - 1)));  // a wrapped line cannot be erased
  write_standard_error(std::string(kEraseLine) + line);
  last_drawn_ = now;
  drawn_ = true;
}

void ProgressBar::erase() {
  if (drawn_) write_standard_error(kEraseLine);
  drawn_ = false;
}

}  // namespace ridge::cli
