// gzip: any number of members, one after another, inflated by ISA-L. What can be inflated before damage is delivered.
#include <algorithm>
#include <memory>

#include <isa-l/igzip_lib.h>

#include "base/try.h"
#include "ingest/container.h"

namespace ridge {
namespace {

constexpr std::size_t kInputBytes = std::size_t{64} << 10;

class GzipSource final : public Source {
 public:
  explicit GzipSource(std::unique_ptr<Source> inner)
      : inner_(std::move(inner)), input_(std::make_unique_for_overwrite<std::uint8_t[]>(kInputBytes)) {
    start_member();
  }

  Result<std::size_t> read(char* out, std::size_t size) override {
    std::size_t got = 0;
    while (got < size && !over_) {
      if (state_.avail_in == 0 && !input_over_) {
        TRY(const std::size_t n, inner_->read(reinterpret_cast<char*>(input_.get()), kInputBytes));
        input_over_ = n < kInputBytes;
        state_.next_in = input_.get();
        state_.avail_in = static_cast<std::uint32_t>(n);
      }
      if (member_over_ && !next_member()) continue;
      got += broken_ ? left_over(out + got, size - got) : inflate(out + got, size - got);
    }
    return got;
  }
  std::uint64_t file_position() const override { return inner_->file_position(); }

 private:
  void start_member() {
    const auto* next_in = state_.next_in;
    const auto avail_in = state_.avail_in;
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
    state_.next_in = const_cast<std::uint8_t*>(next_in);
    state_.avail_in = avail_in;
    member_over_ = false;
  }

  // Behind a member: another one, padding (ignored) or the end. True when there is something to inflate.
  bool next_member() {
    if (state_.avail_in == 0) {
      over_ = input_over_;
      return false;
    }
    if (*state_.next_in == 0) {  // padding of tapes and block devices
      ++state_.next_in;
      --state_.avail_in;
      return false;
    }
    if (*state_.next_in != 0x1F) {
      damage_.add(Problem::trailing_garbage, delivered_);
      over_ = true;
      return false;
    }
    start_member();
    return true;
  }

  std::size_t inflate(char* out, std::size_t size) {
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
    const auto room = static_cast<std::uint32_t>(std::min(size, kMostAtOnce));
    state_.next_out = reinterpret_cast<std::uint8_t*>(out);
    state_.avail_out = room;
    const std::uint32_t in_before = state_.avail_in;
    const int status = isal_inflate(&state_);
    const std::size_t made = room - state_.avail_out;
    delivered_ += made;
    if (status == ISAL_INCORRECT_CHECKSUM) {
      damage_.add(Problem::checksum_mismatch, delivered_);
      member_over_ = true;
    } else if (status < 0) {
      broken_ = true;
    } else if (state_.block_state == ISAL_BLOCK_FINISH) {
      member_over_ = true;
    } else if (made == 0 && input_over_ && (state_.avail_in == 0 || state_.avail_in == in_before)) {
      damage_.add(Problem::truncated_compression, delivered_);
      over_ = true;
    }
    return made;
  }

  // ISA-L inflates ahead of what it is asked for. What it had when it met the damage is good, and the same however much was
  // asked for at a time.
  std::size_t left_over(char* out, std::size_t size) {
    const auto left = static_cast<std::size_t>(state_.tmp_out_valid - state_.tmp_out_processed);
    const std::size_t taken = std::min(size, left);
    std::copy_n(state_.tmp_out_buffer + state_.tmp_out_processed, taken, reinterpret_cast<std::uint8_t*>(out));
    state_.tmp_out_processed += static_cast<std::int32_t>(taken);
    delivered_ += taken;
    over_ = taken == left;
    if (over_) damage_.add(Problem::damaged_compression, delivered_);
    return taken;
  }

  std::unique_ptr<Source> inner_;
  std::unique_ptr<std::uint8_t[]> input_;  // kInputBytes
  inflate_state state_{};
  std::uint64_t delivered_ = 0;  // bytes
  bool input_over_ = false;
  bool member_over_ = false;
  bool broken_ = false;  // damaged from here on
  bool over_ = false;
};

}  // namespace

std::unique_ptr<Source> make_gzip_source(std::unique_ptr<Source> inner) {
  return std::make_unique<GzipSource>(std::move(inner));
}

}  // namespace ridge
