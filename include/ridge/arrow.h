// Tables as Arrow has them: handed over in memory by its C data interface, or written as a file. Integers, numbers and masks
// are Arrow's own form, texts are dictionaries (uint32 codes, large_utf8), units are metadata of the fields.
#pragma once

#include <cstdint>
#include <memory>

#include <ridge/result.h>
#include <ridge/table.h>
#include <ridge/writer.h>

// The structures of https://arrow.apache.org/docs/format/CDataInterface.html: an ABI, the same in every project that has them.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
}
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}
#endif

namespace ridge {

// The fields of a table; `out` is the caller's to release.
void export_arrow_schema(const Table& table, ArrowSchema* out);

// The table as a stream of one batch. Values, masks and texts are read where the table has them; only where the texts of a
// dictionary end is copied, and a dictionary that is not valid UTF-8. Whatever the receiver keeps keeps the table.
void export_arrow_stream(std::shared_ptr<const Table> table, ArrowArrayStream* out);

}  // namespace ridge
