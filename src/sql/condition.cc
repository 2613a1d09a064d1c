// Constants made comparable with their column, and the comparisons.
#include "sql/condition.h"

#include <cmath>
#include <utility>

#include <re2/re2.h>
#include <sqlite3.h>

namespace ridge::sql {
namespace {

constexpr double kExact = 9007199254740992.0;  // up to here every integer is a double of its own

bool is_pattern(Compare op) { return op == Compare::like || op == Compare::glob || op == Compare::regexp; }

// x op d for an integer x, as an integer constant; nothing where no integer will do.
std::optional<Constant> as_integer_bound(Compare op, double bound) {
  if (!(std::abs(bound) < kExact)) return std::nullopt;
  const bool up = op == Compare::lt || op == Compare::ge;
  const double whole = up ? std::ceil(bound) : std::floor(bound);
  if ((op == Compare::eq || op == Compare::ne) && whole != bound) return std::nullopt;
  return Constant(static_cast<std::int64_t>(whole));
}

std::optional<Constant> comparable(Type type, Compare op, Constant constant) {
  if (op == Compare::is_null || op == Compare::not_null) return Constant();
  if (type == Type::text)
    return std::holds_alternative<std::string>(constant) ? std::optional(std::move(constant)) : std::nullopt;
  if (is_pattern(op)) return std::nullopt;
  if (const auto* number = std::get_if<double>(&constant)) {
    return type == Type::number ? std::optional(constant) : as_integer_bound(op, *number);
  }
  const auto* whole = std::get_if<std::int64_t>(&constant);
  if (whole == nullptr) return std::nullopt;
  if (type != Type::number) return constant;
  const auto number = static_cast<double>(*whole);
  return std::abs(number) < kExact ? std::optional(Constant(number)) : std::nullopt;
}

template <class T>
bool holds(Compare op, const T& a, const T& b) {
  switch (op) {
    case Compare::eq: return a == b;
    case Compare::ne: return a != b;
    case Compare::lt: return a < b;
    case Compare::le: return a <= b;
    case Compare::gt: return a > b;
    case Compare::ge: return a >= b;
    default: return true;
  }
}

}  // namespace

Condition::Condition(std::size_t column, Type type, Compare op, Constant constant)
    : column_(column), type_(type), op_(op), constant_(std::move(constant)) {}
Condition::Condition(Condition&&) noexcept = default;
Condition& Condition::operator=(Condition&&) noexcept = default;
Condition::~Condition() = default;

std::optional<Condition> Condition::make(const RelationColumn& column, std::size_t index, Compare op, Constant constant) {
  auto with = comparable(column.type, op, std::move(constant));
  if (!with) return std::nullopt;
  Condition made(index, column.type, op, std::move(*with));
  if (op == Compare::regexp) {
    re2::RE2::Options quiet;
    quiet.set_log_errors(false);
    made.expression_ = std::make_unique<const re2::RE2>(std::get<std::string>(made.constant_), quiet);
    if (!made.expression_->ok()) return std::nullopt;  // the function itself says what is wrong with it
  }
  return made;
}

bool Condition::matches(std::string_view text) {
  const auto [found, is_new] = matched_.try_emplace(TextPlace{text.data(), text.size()}, false);
  if (!is_new) return found->second;
  const std::string& pattern = std::get<std::string>(constant_);
  if (op_ == Compare::regexp) return found->second = re2::RE2::PartialMatch({text.data(), text.size()}, *expression_);
  const std::string ended(text);
  return found->second = op_ == Compare::like ? sqlite3_strlike(pattern.c_str(), ended.c_str(), 0) == 0
                                              : sqlite3_strglob(pattern.c_str(), ended.c_str()) == 0;
}

template <class T, class Get>
void Condition::compare_all(const ValueBuffer& values, std::span<std::uint8_t> keep, const T& with, Get get) const {
  const Compare op = op_;
  for (std::size_t i = 0; i < keep.size(); ++i)
    keep[i] = static_cast<std::uint8_t>(keep[i] & static_cast<std::uint8_t>(values.known(i) && holds<T>(op, get(i), with)));
}

void Condition::filter(const ValueBuffer& values, std::span<std::uint8_t> keep) {
  if (op_ == Compare::is_null || op_ == Compare::not_null) {
    for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = keep[i] != 0 && values.known(i) == (op_ == Compare::not_null);
    return;
  }
  if (type_ == Type::number)
    return compare_all(values, keep, std::get<double>(constant_), [&](std::size_t i) { return values.number(i); });
  if (type_ != Type::text)
    return compare_all(values, keep, std::get<std::int64_t>(constant_), [&](std::size_t i) { return values.integer(i); });
  if (!is_pattern(op_))
    return compare_all<std::string_view>(values, keep, std::get<std::string>(constant_),
                                         [&](std::size_t i) { return values.text(i); });
  for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = keep[i] != 0 && values.known(i) && matches(values.text(i));
}

}  // namespace ridge::sql
