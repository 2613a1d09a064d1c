// LaunchKey: under which key a launch falls where `kernels` regroups: its op, shape, annotation, module, graph, stream, or the
// stage of a server's step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/kernels/kernels.h"
#include "model/annotations.h"
#include "model/server_steps.h"
#include "trace/tables.h"

namespace ridge {

class LaunchKey {
 public:
  LaunchKey(const Scope& scope, KernelsBy by);  // `by` regroups: it is not launch. `scope` must outlive it.

  std::string of(const WorkRow& work);

 private:
  // The compiled graph around a node; where the trace does not name graphs, the compiled region or function. The innermost of
  // each.
  struct GraphAround {
    StringId name;
    bool is_graph = false;
  };
  static std::vector<GraphAround> graphs_around(const Model& model);

  std::string name(NodeId n) const;
  std::string shape(NodeId op) const;
  std::string stage(const WorkRow& work, NodeId launch) const;

  const Model& model_;
  KernelsBy by_;
  OpTable ops_;
  std::optional<Annotations> annotations_;
  std::vector<GraphAround> graphs_;  // by node
  ServerSteps steps_;
};

}  // namespace ridge
