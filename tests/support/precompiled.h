// What most tests include, compiled once where that pays (cmake/Tests.cmake). No test relies on it: each names what it uses.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <ridge/report.h>

#include "facts/scope.h"
#include "support/files.h"
#include "support/loaded_trace.h"
