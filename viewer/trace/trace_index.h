#pragma once
// The mipmaps of a database's traces: the exact time per context, by blocks of records. A block of level 0
// has kBlockSegments segments, one of a higher level kBlocksPerBlock blocks of the level below. The last
// block of each level may be shorter, and the highest level is one block. The time of any range is the sum of
// few blocks and of the records at its edges.
//
// Built once by build_index() (index_builder.h), then mapped from the file next to the database. Any number
// of threads may use it. The file is untrusted: a context that the database does not have is left out.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/trace/mapped_traces.h"
#include "viewer/trace/mapping.h"

namespace prof::viewer {

constexpr uint64_t kBlockSegments = 256;
constexpr uint64_t kBlocksPerBlock = 4;

// Returns the number of blocks of each level of one row, from level 0 on. Empty for a row without segments.
std::vector<uint64_t> blocks_of_levels(uint64_t segments);

// The layout in the file. A block's entries are contiguous and sorted by context. Narrow entries are u32
// context and u32 ns. Wide ones, for blocks of 2^32 ns and more, are u32 context, u32 zero and u64 ns. The
// context is kNone for time in which nothing ran.
struct Block {
  uint64_t begin_ns;
  uint64_t entries;  // offset in the file, a multiple of 8
  uint32_t count;
  uint32_t is_wide;
};
static_assert(sizeof(Block) == 24);
constexpr uint64_t entry_bytes(const Block& block) {
  return block.is_wide ? 16 : 8;
}

// Time by context.
struct Times {
  explicit Times(uint32_t contexts) : by_context(contexts, 0) {}
  void add(uint32_t context, uint64_t ns) { (context == kNone ? idle : by_context[context]) += ns; }

  std::vector<uint64_t> by_context;  // ns
  uint64_t idle = 0;                 // time in which nothing ran
};

// The segment that contains an instant.
struct Instant {
  uint32_t context = kNone;
  uint64_t begin_ns = 0, end_ns = 0;  // of the segment
};
// Returns nothing outside the row's trace. Needs no index: it searches the records.
std::optional<Instant> instant_at(const MappedTraces& traces, size_t row, uint64_t time_ns);

class TraceIndex {
 public:
  // Takes tables that were validated (index_file.h): one vector of levels for each row.
  TraceIndex(std::shared_ptr<const MappedTraces> traces, Mapping file,
             std::vector<std::vector<const Block*>> levels)
      : traces_(std::move(traces)), file_(std::move(file)), levels_(std::move(levels)) {}

  const MappedTraces& traces() const { return *traces_; }

  // Calls visit(context, ns) with the time that the row spent in each context between two times, exact to the
  // nanosecond. It may be called several times for a context, and with kNone for time in which nothing ran.
  template <class Visit>
  void for_each_time(size_t row, uint64_t begin_ns, uint64_t end_ns, const Visit& visit) const;
  // Adds these times to `times`.
  void add_times(size_t row, uint64_t begin_ns, uint64_t end_ns, Times& times) const;

  // Allows all its pages to be dropped from memory.
  void release_pages() const { file_.release_pages(); }

  // Visits the contents of [begin_ns, end_ns), in order. Calls visit_block(block, its end) for the largest
  // blocks that lie entirely in it and for which takes(begin, end) is true. Calls visit_segment(begin, end,
  // context) for the other segments, which may begin before and end after it.
  template <class Takes, class VisitBlock, class VisitSegment>
  void walk(size_t row, uint64_t begin_ns, uint64_t end_ns, const Takes& takes, const VisitBlock& visit_block,
            const VisitSegment& visit_segment) const;

  // Calls visit(context, ns) for each entry of a block.
  template <class Visit>
  void for_each_entry(const Block& block, const Visit& visit) const;

 private:
  uint64_t block_end(size_t row, size_t level, uint64_t block, uint64_t count) const {
    return block + 1 < count ? levels_[row][level][block + 1].begin_ns : traces_->end_ns(row);
  }

  std::shared_ptr<const MappedTraces> traces_;
  Mapping file_;
  std::vector<std::vector<const Block*>> levels_;
};

template <class Visit>
void TraceIndex::for_each_entry(const Block& block, const Visit& visit) const {
  const char* entry = file_.data() + block.entries;
  const uint32_t contexts = traces_->contexts();
  const auto each = [&](auto ns, size_t offset, uint64_t bytes) {
    for (uint32_t i = 0; i < block.count; ++i, entry += bytes) {
      uint32_t context;
      std::memcpy(&context, entry, sizeof context);
      std::memcpy(&ns, entry + offset, sizeof ns);
      if (context < contexts || context == kNone) visit(context, uint64_t{ns});
    }
  };
  if (block.is_wide)
    each(uint64_t{}, 8, 16);
  else
    each(uint32_t{}, 4, 8);
}

template <class Visit>
void TraceIndex::for_each_time(size_t row, uint64_t begin_ns, uint64_t end_ns, const Visit& visit) const {
  walk(
      row, begin_ns, end_ns, [](uint64_t, uint64_t) { return true; },
      [&](const Block& block, uint64_t) { for_each_entry(block, visit); },
      [&](uint64_t begin, uint64_t end, uint32_t context) {
        begin = std::max(begin, begin_ns);
        end = std::min(end, end_ns);
        if (begin < end) visit(context, end - begin);
      });
}

template <class Takes, class VisitBlock, class VisitSegment>
void TraceIndex::walk(size_t row, uint64_t begin_ns, uint64_t end_ns, const Takes& takes,
                      const VisitBlock& visit_block, const VisitSegment& visit_segment) const {
  const uint64_t segments = traces_->segments(row);
  if (segments == 0 || begin_ns >= end_ns) return;
  const std::vector<const Block*>& levels = levels_[row];
  const auto descend = [&](const auto& self, size_t level, uint64_t first, uint64_t last) -> void {
    const uint64_t size = kBlockSegments << (2 * level);  // kBlocksPerBlock is 4
    const uint64_t count = (segments + size - 1) / size;
    for (uint64_t i = first; i < std::min(last, count); ++i) {
      const Block& block = levels[level][i];
      const uint64_t end = block_end(row, level, i, count);
      if (end <= begin_ns || end <= block.begin_ns) continue;
      if (block.begin_ns >= end_ns) return;
      if (block.begin_ns >= begin_ns && end <= end_ns && takes(block.begin_ns, end)) {
        visit_block(block, end);
      } else if (level > 0) {
        self(self, level - 1, i * kBlocksPerBlock, (i + 1) * kBlocksPerBlock);
      } else {
        const uint64_t last_segment = std::min((i + 1) * size, segments);
        uint64_t segment = traces_->segment_at(row, begin_ns, i * size, last_segment);
        uint64_t from = traces_->time(row, segment);
        for (; segment < last_segment && from < end_ns; ++segment) {
          const uint64_t to = traces_->time(row, segment + 1);
          if (to > from) visit_segment(from, to, traces_->context(row, segment));
          from = to;
        }
      }
    }
  };
  descend(descend, levels.size() - 1, 0, 1);
}

}  // namespace prof::viewer
