#include "analysis/import/perf/sampled_tree.h"

#include <algorithm>

namespace prof::perf {

uint32_t SampledTree::intern(const Frame& frame) {
  const auto [at, added] = frame_numbers_.try_emplace(frame, static_cast<uint32_t>(frames_.size()));
  if (added) {
    frames_.push_back(frame);
    if (frame.where == Where::Module) modules_.need(frame.module, frame.address);
  }
  return at->second;
}

uint32_t SampledTree::child(uint32_t parent, uint32_t frame) {
  const auto [at, added] =
      children_.try_emplace(uint64_t{parent} << 32 | frame, static_cast<uint32_t>(nodes_.size()));
  if (added) nodes_.push_back({parent, frame});
  return at->second;
}

bool SampledTree::has_kernel_frames() const {
  return std::ranges::any_of(frames_, [](const Frame& f) { return f.where == Where::Kernel; });
}

const std::vector<uint32_t>& SampledTree::add_to(DatabaseBuilder& builder, const KernelPlaces& kernel,
                                                 const std::vector<uint32_t>& roots) {
  std::vector<PlaceId> places;
  places.reserve(frames_.size());
  for (const Frame& frame : frames_)
    places.push_back(frame.where == Where::Kernel ? kernel.place(frame.address, builder)
                                                  : modules_.place(frame.module, frame.address));
  contexts_.assign(nodes_.size(), kNone);
  // A tree without other threads gets no entry point for them.
  for (const uint32_t root : roots)
    if (contexts_[root] == kNone) contexts_[root] = builder.contexts().entry(root == kMainThread);
  for (uint32_t i = kOtherThread + 1; i < nodes_.size(); ++i)
    contexts_[i] = builder.contexts().extend(contexts_[nodes_[i].parent], places[nodes_[i].frame]);
  return contexts_;
}

}  // namespace prof::perf
