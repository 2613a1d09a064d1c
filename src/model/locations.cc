// One pass down the tree: each node inherits its parent's path and line unless it is a frame itself.
#include "model/locations.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "model/frame_name.h"

namespace ridge {
namespace {

constexpr std::string_view kModule = "nn.Module: ";

constexpr std::string_view kForeignFolders[] = {
    "torch/", "triton/", "torchinductor", "importlib/", "concurrent/futures/", "multiprocessing/"};
constexpr std::string_view kForeignFiles[] = {"contextlib.py", "threading.py", "runpy.py", "functools.py", "<string>"};

// Inductor names the files it generates by a hash: "c" and 51 letters and digits of base 32.
bool is_hash(std::string_view stem) {
  return stem.size() >= 40 &&
         std::all_of(stem.begin(), stem.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

}  // namespace

bool is_user_file(std::string_view file) {
  if (!file.ends_with(".py")) return false;
  for (const std::string_view folder : kForeignFolders) {
    const std::size_t at = file.find(folder);
    if (at == 0 || (at != file.npos && file[at - 1] == '/')) return false;
  }
  const std::size_t slash = file.rfind('/');
  const std::string_view name = slash == file.npos ? file : file.substr(slash + 1);
  if (std::find(std::begin(kForeignFiles), std::end(kForeignFiles), name) != std::end(kForeignFiles)) return false;
  return !is_hash(name.substr(0, name.size() - 3));
}

// The number of each spot, those that are not known yet added.
class Locations::Numbers {
 public:
  explicit Numbers(std::vector<Spot>* spots) : spots_(*spots) { of({}); }

  std::uint32_t of(Spot spot) {
    const auto [it, is_new] = numbers_.try_emplace(static_cast<std::uint64_t>(spot.path) << 32 | spot.place,
                                                   static_cast<std::uint32_t>(spots_.size()));
    if (is_new) spots_.push_back(spot);
    return it->second;
  }
  // The spot with what it lacks from another.
  std::uint32_t filled(std::uint32_t number, std::uint32_t from) {
    if (number == from) return number;
    const Spot own = spots_[number], other = spots_[from];
    const Spot both{own.path == 0 ? other.path : own.path, own.place == 0 ? other.place : own.place};
    if (both.path == own.path && both.place == own.place) return number;
    return both.path == other.path && both.place == other.place ? from : of(both);
  }

 private:
  std::vector<Spot>& spots_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

Locations::Locations(const Trace& trace, const CallTree& tree, const ForwardBackward& links)
    : spot_(tree.size()), paths_(1), places_(1) {
  Numbers numbers(&spots_);
  // What a frame's name means, asked once per distinct text: its place (0 for frames that are not the user's), or one of these.
  constexpr std::uint32_t kUnasked = UINT32_MAX, kIsModule = UINT32_MAX - 1;
  std::vector<std::uint32_t> meaning_of(trace.strings.size(), kUnasked);
  const auto meaning = [&](std::string_view name) {
    if (name.starts_with(kModule)) return kIsModule;
    const auto frame = parse_frame_name(name);
    if (!frame || !is_user_file(frame->file)) return std::uint32_t{0};
    places_.push_back(location_of(*frame));
    return static_cast<std::uint32_t>(places_.size() - 1);
  };
  std::unordered_map<std::uint64_t, std::uint32_t> path_ids;  // (path around, name)
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    const NodeId parent = tree.parent[n];
    spot_[n] = parent == kNoNode ? 0 : spot_[parent.value];
    if (tree.event_class[n] != EventClass::python_frame) continue;
    const StringId id = trace.events.name(tree.event[n]);
    std::uint32_t& meant = meaning_of[id.value];
    if (meant == kUnasked) meant = meaning(trace.text(id));
    if (meant == 0) continue;
    Spot spot = spots_[spot_[n]];
    if (meant == kIsModule) {
      const auto [it, is_new] = path_ids.try_emplace(static_cast<std::uint64_t>(spot.path) << 32 | id.value,
                                                     static_cast<std::uint32_t>(paths_.size()));
      if (is_new) {
        const std::string_view name = trace.text(id).substr(kModule.size());
        paths_.push_back(paths_[spot.path] + (spot.path == 0 ? "" : ".") + std::string(name));
      }
      spot.path = it->second;
    } else {
      spot.place = meant;
    }
    spot_[n] = numbers.of(spot);
  }
  follow_forward(tree, links, &numbers);
}

// Links stand in order of their backward op, so that one walk meets each at its node.
void Locations::follow_forward(const CallTree& tree, const ForwardBackward& links, Numbers* numbers) {
  auto link = links.links.begin();
  for (std::uint32_t n = 0; n < tree.size() && !links.links.empty(); ++n) {
    if (tree.parent[n] != kNoNode) spot_[n] = numbers->filled(spot_[n], spot_[tree.parent[n].value]);
    while (link != links.links.end() && link->backward < NodeId{n}) ++link;
    if (link == links.links.end() || link->backward != NodeId{n} || link->forward == kNoNode) continue;
    spot_[n] = numbers->filled(spot_[n], spot_[link->forward.value]);
  }
}

}  // namespace ridge
