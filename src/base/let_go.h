// let_go: a container without its values and without their room. Assigned from {}, a vector keeps its room.
#pragma once

namespace ridge {

template <class Container>
void let_go(Container& values) {
  Container().swap(values);
}

}  // namespace ridge
