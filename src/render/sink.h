// Sink: text on its way to a Writer. Renderers append to `text` and settle() now and then, so that it never grows large.
#pragma once

#include <string>

#include <ridge/writer.h>

namespace ridge::render {

inline constexpr std::size_t kSinkBytes = std::size_t{64} << 10;  // handed on at a time

class Sink {
 public:
  explicit Sink(const Writer& write) : write_(write) {}

  std::string text;  // what is not handed on yet

  // At places where a renderer has finished a piece. A writer that has failed gets no more.
  void settle() {
    if (text.size() >= kSinkBytes) hand_on();
  }
  Result<void> finish() {
    hand_on();
    return result_;
  }

 private:
  void hand_on() {
    if (result_ && !text.empty()) result_ = write_(text);
    text.clear();
  }

  const Writer& write_;
  Result<void> result_;
};

}  // namespace ridge::render
