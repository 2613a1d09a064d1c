// zstd: any number of frames, one after another. Frames that ask for more than 128 MiB of history are refused (zstd --long=28
// and up).
#include <algorithm>
#include <memory>
#include <vector>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/try.h"
#include "ingest/container.h"

namespace ridge {
namespace {

constexpr std::size_t kFrameStart = 5;  // bytes that tell how long a frame's header is

class ZstdSource final : public Source {
 public:
  explicit ZstdSource(std::unique_ptr<Source> inner)
      : inner_(std::move(inner)), input_(ZSTD_DStreamInSize() * 2), stream_(ZSTD_createDStream()) {}

  Result<std::size_t> read(char* out, std::size_t size) override {
    ZSTD_outBuffer output{out, size, 0};
    while (output.pos < output.size && !over_) {
      if (buffer_.pos == buffer_.size && !input_over_) {
        TRY(const std::size_t n, inner_->read(input_.data(), input_.size()));
        input_over_ = n < input_.size();
        buffer_ = {input_.data(), n, 0};
      }
      // A call that meets damage tells nothing of what it had written before: each gets the input of one block at most, and
      // none while something may be left of the block before. So the same comes out however much is asked for at a time.
      ZSTD_inBuffer piece{buffer_.src, full_ ? buffer_.pos : std::min(buffer_.size, buffer_.pos + wanted_), buffer_.pos};
      const std::size_t before = output.pos, read_before = buffer_.pos;
      const std::size_t status = ZSTD_decompressStream(stream_.get(), &output, &piece);
      buffer_.pos = piece.pos;
      full_ = output.pos == output.size;
      wanted_ = status == 0 ? kFrameStart : status;
      in_frame_ |= buffer_.pos != read_before;
      const std::uint64_t delivered = delivered_ + output.pos;
      if (ZSTD_isError(status) != 0 && ZSTD_getErrorCode(status) == ZSTD_error_checksum_wrong) {
        // All of the frame came out, and the piece was the rest of its checksum: the next one may be sound.
        damage_.add(Problem::checksum_mismatch, delivered);
        ZSTD_DCtx_reset(stream_.get(), ZSTD_reset_session_only);
        buffer_.pos = piece.size;
        wanted_ = kFrameStart;
        in_frame_ = false;
        continue;
      }
      if (ZSTD_isError(status) != 0) {
        const bool garbage = ZSTD_getErrorCode(status) == ZSTD_error_prefix_unknown;
        damage_.add(garbage ? Problem::trailing_garbage : Problem::damaged_compression, delivered);
        over_ = true;
      } else if (input_over_ && buffer_.pos == buffer_.size && output.pos == before) {
        if (in_frame_ && status != 0) damage_.add(Problem::truncated_compression, delivered);
        over_ = true;
      }
      in_frame_ = status != 0;
    }
    delivered_ += output.pos;
    return output.pos;
  }
  std::uint64_t file_position() const override { return inner_->file_position(); }

 private:
  struct Free {
    void operator()(ZSTD_DStream* s) const { ZSTD_freeDStream(s); }
  };

  std::unique_ptr<Source> inner_;
  std::vector<char> input_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  ZSTD_inBuffer buffer_{nullptr, 0, 0};
  std::uint64_t delivered_ = 0;       // bytes, by the calls before
  std::size_t wanted_ = kFrameStart;  // bytes of input up to the end of a block, as zstd says
  bool full_ = false;                 // the last call filled all that it was given
  bool input_over_ = false;
  bool in_frame_ = false;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<Source> make_zstd_source(std::unique_ptr<Source> inner) {
  return std::make_unique<ZstdSource>(std::move(inner));
}

}  // namespace ridge
