// Typed 32-bit ids: an index into one table that cannot be mistaken for an index into another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ridge {

template <class Tag>
struct Id {
  std::uint32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value(v) {}
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}
  constexpr auto operator<=>(const Id&) const = default;
};

using StringId = Id<struct StringTag>;    // a text of the trace's StringPool; 0 is the empty text
using EventId = Id<struct EventTag>;      // an event, in file order
using TrackId = Id<struct TrackTag>;      // an exact (pid, tid) pair
using KindId = Id<struct KindTag>;        // a (ph, cat) pair
using ArgSchemaId = Id<struct ShapeTag>;  // a list of argument keys and types
using FormId = Id<struct FormTag>;        // a (kind, track, schema) triple

}  // namespace ridge

template <class Tag>
struct std::hash<ridge::Id<Tag>> {
  std::size_t operator()(ridge::Id<Tag> id) const noexcept { return id.value * std::size_t{0x9E3779B97F4A7C15}; }
};
