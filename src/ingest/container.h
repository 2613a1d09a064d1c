// Container: what the bytes of a trace are packed in, one row each; told by the first bytes and never by the name. What the
// bytes mean once unpacked is a TraceFormat's business: any format may come in any container.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "ingest/source.h"

namespace ridge {

struct Container {
  std::string_view name;
  bool (*recognise)(std::string_view prefix);                           // the file's first bytes
  std::unique_ptr<Source> (*open)(std::unique_ptr<Source> compressed);  // gives the plain bytes
};

// In the order in which they are asked; the last one, plain bytes, takes what no other does.
std::span<const Container> containers();
const Container& container_of(std::string_view prefix);

std::unique_ptr<Source> make_gzip_source(std::unique_ptr<Source> inner);
std::unique_ptr<Source> make_zstd_source(std::unique_ptr<Source> inner);

}  // namespace ridge
