// LineReader: bytes in pieces to lines. A line that is longer than allowed is not kept: it is told once, at its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ridge::mcp {

class LineReader {
 public:
  explicit LineReader(std::size_t longest) : longest_(longest) {}

  // Calls `line(text)` for each line that ends in `bytes`, `too_long()` for one that was too long.
  template <class Line, class TooLong>
  void add(std::string_view bytes, Line line, TooLong too_long) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      keep(bytes.substr(0, end));
      if (end == std::string_view::npos) return;
      finish(line, too_long);
      bytes.remove_prefix(end + 1);
    }
  }

  // What came last, without its newline.
  template <class Line, class TooLong>
  void end(Line line, TooLong too_long) {
    if (!kept_.empty() || skipping_) finish(line, too_long);
  }

 private:
  void keep(std::string_view bytes) {
    skipping_ = skipping_ || kept_.size() + bytes.size() > longest_;
    skipping_ ? kept_.clear() : static_cast<void>(kept_.append(bytes));
  }

  template <class Line, class TooLong>
  void finish(Line line, TooLong too_long) {
    skipping_ ? too_long() : line(std::string_view(kept_));
    kept_.clear();
    skipping_ = false;
  }

  const std::size_t longest_;
  std::string kept_;
  bool skipping_ = false;
};

}  // namespace ridge::mcp
