// Whether a text for people names something: a flag, a file, a number. Tests pin what is named, not the sentence around it,
// which golden cases show.
#pragma once

#include <initializer_list>
#include <string_view>

#include <gtest/gtest.h>

namespace ridge::test {

inline testing::AssertionResult says(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) == std::string_view::npos) return testing::AssertionFailure() << "no \"" << word << "\" in: " << text;
  }
  return testing::AssertionSuccess();
}

}  // namespace ridge::test
