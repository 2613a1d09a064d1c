// PackedText: the text of an answer as it is kept: compressed while it is made, so that it is never held whole. A client that
// takes gzip gets the bytes as they are; for another they are unpacked piece by piece as they are sent. Immutable.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace ridge::server {

class PackedText {
 public:
  PackedText() = default;
  explicit PackedText(std::string_view text);  // a short one stays plain

  bool is_gzip() const { return gzip_; }
  const std::string& bytes() const { return bytes_; }  // as is_gzip() says
  std::size_t text_size() const { return text_size_; }
  std::string text() const;

 private:
  friend class TextPacker;
  std::string bytes_;
  std::size_t text_size_ = 0;
  bool gzip_ = false;
};

// Takes a text piece by piece.
class TextPacker {
 public:
  TextPacker();
  ~TextPacker();
  TextPacker(const TextPacker&) = delete;
  TextPacker& operator=(const TextPacker&) = delete;

  void add(std::string_view piece);
  PackedText finish();  // once, at the end

 private:
  struct Stream;
  void pack(std::string_view piece, bool last);

  std::unique_ptr<Stream> stream_;  // none while all that was added is short
  PackedText made_;
};

// Gives the text of a PackedText, which must outlive it, in pieces of `most` bytes and the last with what is left.
class TextUnpacker {
 public:
  explicit TextUnpacker(const PackedText& packed);
  ~TextUnpacker();
  TextUnpacker(const TextUnpacker&) = delete;
  TextUnpacker& operator=(const TextUnpacker&) = delete;

  std::string_view next(std::size_t most);  // valid until the next call; empty: it was the end

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  const PackedText& packed_;
  std::size_t given_ = 0;
  std::string piece_;
};

// Whether the value of an Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace ridge::server
