// Copies of a real trace with one known change, written as text: what a comparison must find, and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "trace/trace.h"

namespace ridge::test {

class EditedTrace {
 public:
  // `json`: a valid trace, none of whose events is dropped by the reader.
  explicit EditedTrace(std::string json);

  // Calls of an iteration that put work on a device, outermost ATen or Triton op each, in the order of the host; every
  // iteration has as many.
  std::size_t calls() const { return calls_.empty() ? 0 : calls_.front().size(); }
  std::size_t iterations() const { return calls_.size(); }
  std::string op_of(std::size_t call) const;
  std::int64_t time_ns(std::size_t call, std::size_t iteration = 0) const;  // of its device work

  // Each gives the text of a copy. `iteration`: in that one alone; in all of them unless given.
  std::string without_call(std::size_t call, int iteration = -1) const;
  std::string with_slower_call(std::size_t call, double factor) const;  // all its kernels
  std::string with_renamed_call(std::size_t call, const std::string& name) const;

  const std::string& text() const { return json_; }

 private:
  struct Edit;
  std::vector<std::uint32_t> events_of(std::size_t call,
                                       std::size_t iteration) const;  // the op, what is under it, and its device work
  std::string copy(const std::vector<Edit>& edits) const;

  std::string json_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Model> model_;
  std::vector<std::vector<NodeId>> calls_;                // by iteration
  std::vector<std::vector<std::uint32_t>> work_of_node_;  // rows of device work by node of their outermost op
};

// What a recording without shapes, or without stacks, would hold. The keys and categories are made unknown to every reader.
std::string without_shapes(std::string json);
std::string without_stacks(std::string json);

}  // namespace ridge::test
