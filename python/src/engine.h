// The engine as the module has it.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include <ridge/engine.h>

namespace ridge::python {

struct EngineHandle {
  std::shared_ptr<const Engine> engine;  // whoever works on it holds it too
};

Arguments arguments_of(const nanobind::dict& given);

void register_engine(nanobind::module_& module);
void register_pages(nanobind::module_& module);
void register_catalog(nanobind::module_& module);
void register_digests(nanobind::module_& module);

}  // namespace ridge::python
