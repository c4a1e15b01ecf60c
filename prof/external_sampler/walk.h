#pragma once
// Walks the call stack of a sample that was taken from outside. It uses unwind tables over the copied piece
// of the stack. Stacks of Go code may be larger than any piece; there the walk continues along the kernel's
// chain of frame pointers from where the two join.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "hpcrun/unwind/frame.h"
#include "prof/external_sampler/image.h"
#include "prof/external_sampler/record.h"

namespace prof {

struct MappedImage {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t load_bias = 0;
  std::shared_ptr<const Image> image;
  uint16_t module = 0;  // id in the process's measurement file
};

// The code of one process. Copied on fork.
class AddressSpace {
 public:
  // Adds a mapping, which replaces whatever was mapped there.
  void map(MappedImage mapped);
  const MappedImage* find(uint64_t address) const;
  std::map<uint64_t, MappedImage>& mappings() { return mappings_; }

 private:
  std::map<uint64_t, MappedImage> mappings_;  // by start
};

struct OutsideStack {
  std::vector<hpcrun::FrameKey> frames;  // leaf first
  hpcrun::StackReason reason = hpcrun::StackReason::EndOfStack;
};

// Walks the stack of a sample. A sample without registers (of 32-bit code) is walked by its chain alone.
OutsideStack walk(const AddressSpace& space, const PerfSample& sample);

}  // namespace prof
