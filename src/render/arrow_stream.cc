// Arrow's C data interface: a table handed to another library of the same process. Every structure that is given away owns a
// block of ours, in its private_data, that release() deletes.
#include <ridge/arrow.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "render/arrow_columns.h"

namespace ridge {
namespace {

using render::ArrowColumn;

// One schema or array with those that hang below it.
template <class Arrow>
struct Given {
  std::vector<std::unique_ptr<Arrow>> children;
  std::vector<Arrow*> child_pointers;
  std::unique_ptr<Arrow> dictionary;

  // Empties of them; whoever fills the structure hands them over with attach().
  Given(std::size_t count, bool has_dictionary) {
    for (std::size_t i = 0; i < count; ++i) child_pointers.push_back(children.emplace_back(std::make_unique<Arrow>()).get());
    if (has_dictionary) dictionary = std::make_unique<Arrow>();
  }
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  ~Given() {  // a receiver may have moved some of them away: those are marked as released
    for (const auto& child : children) {
      if (child->release != nullptr) child->release(child.get());
    }
    if (dictionary && dictionary->release != nullptr) dictionary->release(dictionary.get());
  }

  void attach(Arrow* out) {
    out->n_children = static_cast<std::int64_t>(children.size());
    out->children = child_pointers.empty() ? nullptr : child_pointers.data();
    out->dictionary = dictionary.get();
  }
};

template <class Arrow, class Block>
void release(Arrow* given) {
  delete static_cast<Block*>(given->private_data);
  given->release = nullptr;
}

struct GivenSchema : Given<ArrowSchema> {
  using Given::Given;
  std::string name, metadata;
};

// Keys and values as the interface has them: counts and lengths as native int32 before each text.
std::string metadata_of(std::string_view unit) {
  if (unit.empty()) return {};
  std::string out;
  const auto put_number = [&](std::size_t number) {
    const auto value = static_cast<std::int32_t>(number);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put_number(1);
  for (const std::string_view text : {std::string_view("unit"), unit}) {
    put_number(text.size());
    out += text;
  }
  return out;
}

const char* format_of(Type type) {
  switch (type) {
    case Type::integer: return "l";
    case Type::number: return "g";
    case Type::boolean: return "b";
    case Type::text: return "I";  // codes of a dictionary
  }
  return "n";
}

void fill_schema(std::unique_ptr<GivenSchema> block, const char* format, ArrowSchema* out) {
  *out = {};
  out->format = format;
  out->name = block->name.c_str();
  out->metadata = block->metadata.empty() ? nullptr : block->metadata.data();
  out->flags = ARROW_FLAG_NULLABLE;
  block->attach(out);
  out->release = release<ArrowSchema, GivenSchema>;
  out->private_data = block.release();
}

void fill_schema(const Column& column, ArrowSchema* out) {
  auto block = std::make_unique<GivenSchema>(0, column.type == Type::text);
  block->name = column.name;
  block->metadata = metadata_of(name_of(column.unit));
  if (block->dictionary) fill_schema(std::make_unique<GivenSchema>(0, false), "U", block->dictionary.get());
  fill_schema(std::move(block), format_of(column.type), out);
}

struct GivenArray : Given<ArrowArray> {
  using Given::Given;
  std::shared_ptr<const Table> table;
  std::shared_ptr<const ArrowColumn> column;
  std::vector<const void*> buffers;
};

void fill_array(std::unique_ptr<GivenArray> block, std::size_t length, std::int64_t null_count, ArrowArray* out) {
  *out = {};
  out->length = static_cast<std::int64_t>(length);
  out->null_count = null_count;
  out->n_buffers = static_cast<std::int64_t>(block->buffers.size());
  out->buffers = block->buffers.data();
  block->attach(out);
  out->release = release<ArrowArray, GivenArray>;
  out->private_data = block.release();
}

void fill_array(const std::shared_ptr<const Table>& table, const Column& column, ArrowArray* out) {
  const auto shared = std::make_shared<const ArrowColumn>(column);
  const auto block_of = [&](bool has_dictionary, std::vector<const void*> buffers) {
    auto block = std::make_unique<GivenArray>(0, has_dictionary);
    block->table = table;
    block->column = shared;
    block->buffers = std::move(buffers);
    return block;
  };
  auto block = block_of(shared->texts != nullptr, {shared->mask, shared->values});
  if (const render::ArrowTexts* texts = shared->texts.get()) {
    const char* bytes = texts->bytes.empty() ? "" : texts->bytes.data();
    fill_array(block_of(false, {nullptr, texts->offsets.data(), bytes}), texts->offsets.size() - 1, 0, block->dictionary.get());
  }
  fill_array(std::move(block), column.size(), shared->null_count, out);
}

struct GivenStream {
  std::shared_ptr<const Table> table;
  bool is_given = false;
};

GivenStream& state_of(ArrowArrayStream* stream) { return *static_cast<GivenStream*>(stream->private_data); }

// No exception may pass through the interface.
template <class Work>
int errno_of(const Work& work) {
  try {
    work();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return errno_of([&] { export_arrow_schema(*state_of(stream).table, out); });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  return errno_of([&] {
    GivenStream& state = state_of(stream);
    *out = {};  // released: the end of the stream
    if (state.is_given) return;
    const std::shared_ptr<const Table>& table = state.table;
    auto block = std::make_unique<GivenArray>(table->columns.size(), false);
    block->table = table;
    block->buffers = {nullptr};
    for (std::size_t i = 0; i < table->columns.size(); ++i) fill_array(table, table->columns[i], block->child_pointers[i]);
    fill_array(std::move(block), table->size(), 0, out);
    state.is_given = true;
  });
}

}  // namespace

void export_arrow_schema(const Table& table, ArrowSchema* out) {
  auto block = std::make_unique<GivenSchema>(table.columns.size(), false);
  for (std::size_t i = 0; i < table.columns.size(); ++i) fill_schema(table.columns[i], block->child_pointers[i]);
  fill_schema(std::move(block), "+s", out);
}

void export_arrow_stream(std::shared_ptr<const Table> table, ArrowArrayStream* out) {
  *out = {};
  out->get_schema = stream_schema;
  out->get_next = stream_next;
  out->get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  out->release = release<ArrowArrayStream, GivenStream>;
  out->private_data = new GivenStream{std::move(table)};
}

}  // namespace ridge
