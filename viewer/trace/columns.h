#pragma once
// Computes the time that a row spent in each frame in each pixel, for painting a timeline. With an index the
// sums are exact. Records are used if few lie in a pixel, else blocks of about a pixel. A block that spans
// several pixels is divided in proportion to their time. Nothing disappears, however short.

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/trace/trace_index.h"

namespace prof::viewer {

struct Share {
  uint32_t key;  // kNone: nothing ran
  uint64_t ns;
};

// A time range in pixels.
struct PixelScale {
  PixelScale(uint64_t begin_ns, uint64_t end_ns, int pixels);
  int pixels() const { return static_cast<int>(edges.size()) - 1; }
  uint64_t begin_ns() const { return edges.front(); }
  uint64_t end_ns() const { return edges.back(); }
  double pixel_ns() const { return static_cast<double>(end_ns() - begin_ns()) / pixels(); }

  std::vector<uint64_t> edges;  // pixel x is [edges[x], edges[x + 1])
};

// Computes the pixels of one row at a time. It is reused for the next row, which avoids allocations. One per
// thread.
class Columns {
 public:
  // `keys`: the key of each context, below `key_count`. `index` may be null while it is being built; then
  // each pixel shows what is at its middle.
  void fill(const MappedTraces& traces, const TraceIndex* index, size_t row, const PixelScale& scale,
            std::span<const uint32_t> keys, uint32_t key_count);

  // Returns one entry per key, unordered. Empty if the row has no trace at that time.
  std::span<const Share> pixel(int x) const {
    const auto i = static_cast<size_t>(x);
    return std::span(shares_).subspan(first_[i], first_[i + 1] - first_[i]);
  }

 private:
  void fill_exactly(const TraceIndex& index, size_t row);
  void fill_by_samples(const MappedTraces& traces, size_t row);
  uint32_t key_of(uint32_t context) const { return context == kNone ? key_count_ : keys_[context]; }
  struct Sums {
    void add(uint32_t key, uint64_t ns) {
      if (ns == 0) return;
      if (of_key[key] == 0) touched.push_back(key);
      of_key[key] += ns;
    }
    std::vector<uint64_t> of_key;  // the last one: nothing ran
    std::vector<uint32_t> touched;
  };

  void add_segment(uint64_t begin_ns, uint64_t end_ns, uint32_t key);
  void add_block(const TraceIndex& index, const Block& block, uint64_t end_ns);
  // Returns false past the last pixel, to which an index that contradicts its traces can lead.
  bool skip_to(uint64_t time_ns);
  void end_pixel();

  const PixelScale* scale_ = nullptr;
  std::span<const uint32_t> keys_;
  uint32_t key_count_ = 0;
  size_t pixel_ = 0;  // the one being computed
  Sums sums_, next_;  // of that pixel, and of the next one
  std::vector<size_t> first_;
  std::vector<Share> shares_;
};

}  // namespace prof::viewer
