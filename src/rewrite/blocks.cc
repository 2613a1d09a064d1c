#include "rewrite/blocks.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "ingest/scan.h"

namespace ridge {
namespace {

// Blocks under way beyond one per thread.
constexpr unsigned kSpareBlocks = 2;

class Stages {
 public:
  Stages(const Trace& trace, OpenedSource opened, const BlockOptions& options, PackedFile* out)
      : trace_(trace), opened_(std::move(opened)), options_(options), out_(out) {}

  Block* read() {
    if (over_ || failed()) return nullptr;
    Block* block = take_free();
    block->offset = offset_;
    block->first_event = event_;
    const std::uint64_t end = block_end();
    const auto wanted = static_cast<std::size_t>(end - offset_);
    if (block->input.size() < wanted + kPadding) block->input.resize(wanted + kPadding);
    const Result<std::size_t> got = opened_.source->read(block->input.data(), wanted);
    if (!got) return fail_with(got.error());
    block->size = *got;
    std::fill_n(block->input.begin() + static_cast<std::ptrdiff_t>(*got), kPadding, '\0');
    over_ = *got < wanted;
    offset_ += *got;
    if (offset_ > options_.max_bytes) {
      return fail_with({ErrorCode::too_large, "the trace grew while it was read", trace_.path, "wait until it is written"});
    }
    while (event_ < trace_.places.size() && end_of(event_) <= offset_) ++event_;
    block->last_event = event_;
    if (options_.progress && !options_.progress(opened_.source->file_position(), opened_.file_bytes)) {
      return fail_with({ErrorCode::interrupted, "interrupted", "", ""});
    }
    return block;
  }

  Block* make(Block* block, const std::function<void(Block*)>& transform) {
    block->output.clear();
    block->packed.clear();
    transform(block);
    if (out_->packing() != Packing::none) block->outcome = pack(out_->packing(), block->output, &block->packed);
    return block;
  }

  void write(Block* block) {
    if (!failed()) {
      Result<void> written = block->outcome;
      if (written) written = out_->write(block->output, out_->packing() == Packing::none ? block->output : block->packed);
      if (!written) fail_with(written.error());
    }
    const std::lock_guard lock(mutex_);
    free_.push_back(block);
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  std::uint64_t end_of(std::size_t event) const { return trace_.places[event].begin + trace_.places[event].size; }

  // About a block further on; behind an event that would be split.
  std::uint64_t block_end() const {
    const std::uint64_t target = offset_ + options_.block_bytes;
    const auto from = trace_.places.begin() + static_cast<std::ptrdiff_t>(event_);
    const auto next = std::lower_bound(from, trace_.places.end(), target,
                                       [](const EventPlace& place, std::uint64_t at) { return place.begin < at; });
    if (next == from) return target;
    return std::max(target, (next - 1)->begin + (next - 1)->size);
  }

  Block* take_free() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return blocks_.emplace_back(std::make_unique<Block>()).get();
    Block* block = free_.back();
    free_.pop_back();
    return block;
  }
  bool failed() {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }
  Block* fail_with(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    return nullptr;
  }

  const Trace& trace_;
  OpenedSource opened_;
  const BlockOptions& options_;
  PackedFile* out_;
  std::uint64_t offset_ = 0;
  std::size_t event_ = 0;
  bool over_ = false;

  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Block*> free_;
  std::optional<Error> error_;
};

}  // namespace

Result<void> PackedFile::start() {
  if (started_) return {};
  started_ = true;
  return file_.write(frame_.head());
}

Result<void> PackedFile::write(std::string_view text, std::string_view packed) {
  if (auto done = start(); !done) return done;
  frame_.add(text);
  return file_.write(packed);
}

Result<void> PackedFile::write(std::string_view text) {
  std::string packed;
  if (auto done = pack(packing_, text, &packed); !done) return done;
  return write(text, packed);
}

Result<void> PackedFile::finish() {
  if (auto done = start(); !done) return done;
  if (auto done = file_.write(frame_.tail()); !done) return done;
  return file_.finish();
}

Result<void> rewrite_blocks(const Trace& trace, OpenedSource source, const BlockOptions& options,
                            const std::function<void(Block*)>& transform, PackedFile* out) {
  Stages stages(trace, std::move(source), options, out);
  const auto most = std::max<std::size_t>(options.threads, static_cast<std::size_t>(tbb::info::default_concurrency()));
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, most);
  tbb::task_arena arena(static_cast<int>(options.threads));
  try {
    arena.execute([&] {
      tbb::parallel_pipeline(
          options.threads + kSpareBlocks,
          tbb::make_filter<void, Block*>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
            Block* block = stages.read();
            if (block == nullptr) flow.stop();
            return block;
          }) & tbb::make_filter<Block*, Block*>(tbb::filter_mode::parallel, [&](Block* b) {
            return stages.make(b, transform);
          }) & tbb::make_filter<Block*, void>(tbb::filter_mode::serial_in_order, [&](Block* b) { stages.write(b); }));
    });
  } catch (const std::exception& e) {  // memory ran out
    return fail(ErrorCode::too_large, std::string("cannot rewrite the trace: ") + e.what(), trace.path);
  }
  if (stages.error()) return tl::unexpected(*stages.error());
  return {};
}

}  // namespace ridge
