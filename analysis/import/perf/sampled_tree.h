#pragma once
// The call paths of all samples as one tree for all threads, and its contexts in the database.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/import/builder.h"
#include "analysis/import/perf/kernel_places.h"
#include "analysis/pipeline/module_places.h"

namespace prof::perf {

class SampledTree {
 public:
  enum class Where : uint8_t { Module, Kernel };
  struct Frame {
    Where where = Where::Module;
    uint32_t module = 0;  // of ModulePlaces, for Where::Module
    uint64_t address = 0;
    bool operator==(const Frame&) const = default;
  };
  // Roots.
  static constexpr uint32_t kMainThread = 0, kOtherThread = 1;

  explicit SampledTree(ModulePlaces& modules) : modules_(modules) {}  // must outlive it

  // Equal frames and children get the same number.
  uint32_t intern(const Frame& frame);
  uint32_t child(uint32_t parent, uint32_t frame);
  const Frame& frame(uint32_t number) const { return frames_[number]; }
  bool has_kernel_frames() const;

  // Adds the given roots and everything below roots to the database. Must be called after everything is
  // recorded and attributed. Returns the context of each node.
  const std::vector<uint32_t>& add_to(DatabaseBuilder& builder, const KernelPlaces& kernel,
                                      const std::vector<uint32_t>& roots);

 private:
  struct FrameHash {
    size_t operator()(const Frame& frame) const {
      return (frame.address ^ uint64_t{frame.module} << 40 ^ uint64_t(frame.where) << 63) *
                 0x9e3779b97f4a7c15u >>
             7;
    }
  };
  struct Node {
    uint32_t parent;
    uint32_t frame;
  };

  ModulePlaces& modules_;
  std::vector<Frame> frames_;
  std::unordered_map<Frame, uint32_t, FrameHash> frame_numbers_;
  std::vector<Node> nodes_ = {{kNone, kNone}, {kNone, kNone}};
  std::unordered_map<uint64_t, uint32_t> children_;
  std::vector<uint32_t> contexts_;  // by node
};

}  // namespace prof::perf
