// Where the buffers of a column lie.
#include "render/arrow_columns.h"

#include <array>

#include "base/lasting.h"
#include "base/utf8.h"

namespace ridge::render {
namespace {

// A place for pointers to nothing: some readers refuse a null pointer even where there is nothing to read.
constexpr std::array<std::uint64_t, 1> kNothing = {0};

}  // namespace

ArrowTexts::ArrowTexts(const Dictionary& dictionary) : bytes(dictionary.bytes()) {
  offsets.reserve(dictionary.size() + 1);
  offsets.push_back(0);
  if (is_valid_utf8(bytes)) {
    for (const std::size_t end : dictionary.ends()) offsets.push_back(static_cast<std::int64_t>(end));
    return;
  }
  for (std::uint32_t code = 0; code < dictionary.size(); ++code) {
    repaired += valid_utf8(dictionary.text(code));
    offsets.push_back(static_cast<std::int64_t>(repaired.size()));
  }
  bytes = repaired;
}

ArrowColumn::ArrowColumn(const Column& of) : column(of) {
  const Values& v = of.values;
  const std::size_t nulls = v.size() - v.known().set_bits();
  null_count = static_cast<std::int64_t>(nulls);
  mask = nulls == 0 ? nullptr : v.known().words().data();
  mask_bytes = nulls == 0 ? 0 : v.known().words().size_bytes();
  const auto take = [&](const auto& span) {
    values = span.data();
    value_bytes = span.size_bytes();
  };
  static const auto& kNoTexts = lasting(Values::Texts());
  static const auto& kNoBits = lasting(Bitmap());
  switch (of.type) {
    case Type::integer: take(v.integers()); break;
    case Type::number: take(v.numbers()); break;
    case Type::boolean: take((v.booleans() != nullptr ? *v.booleans() : kNoBits).words()); break;
    case Type::text: {
      const Values::Texts& held = v.texts() != nullptr ? *v.texts() : kNoTexts;
      take(std::span<const std::uint32_t>(held.codes));
      texts = std::make_unique<const ArrowTexts>(held.dictionary);
      break;
    }
  }
  if (values == nullptr) values = kNothing.data();
}

}  // namespace ridge::render
