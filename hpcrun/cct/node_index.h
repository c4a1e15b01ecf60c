#pragma once
// Finds the node of (parent, frame): linear hashing with chains. The table grows by one bucket per node, so
// no insertion ever has to rehash the whole table. Belongs to one thread, in its arena. Async-signal-safe.

#include <bit>
#include <cstdint>

#include "hpcrun/cct/segments.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/frame.h"

namespace hpcrun {

class NodeIndex {
 public:
  struct Node {
    FrameKey frame;
    uint32_t parent;
    uint32_t next;  // in the chain; 0 ends it (the root is in no chain)
    uint32_t hash;
    uint32_t first_cell;  // for the tree: 1 + index of the node's first metric cell
  };
  static_assert(sizeof(Node) == 24);

  [[nodiscard]] bool attach(Arena& arena) noexcept {
    arena_ = &arena;
    return heads_.ensure(arena, kFirstBuckets - 1) && nodes_.ensure(arena, 0);
  }

  Node& operator[](uint32_t id) noexcept { return nodes_[id]; }
  [[nodiscard]] uint32_t count() const noexcept { return count_; }  // including the root

  static uint32_t hash(uint32_t parent, FrameKey frame) noexcept {
    // The upper half of a product depends on all bits of the factors below it.
    const uint64_t mixed = (frame ^ (parent * 0x9e3779b97f4a7c15u)) * 0xd6e8feb86659fd93u;
    return static_cast<uint32_t>(mixed >> 32);
  }

  // Returns 0 if there is no such node.
  uint32_t find(uint32_t parent, FrameKey frame, uint32_t hash_value) noexcept {
    uint32_t id = heads_[bucket(hash_value)];
    while (id != 0) {
      const Node& node = nodes_[id];
      if (node.frame == frame && node.parent == parent) break;
      id = node.next;
    }
    return id;
  }

  // Makes room for one more node; add() then cannot fail.
  [[nodiscard]] bool reserve() noexcept { return count_ < kMaxNodes && nodes_.ensure(*arena_, count_); }

  // Adds a node. Its id is the value of count() before the call.
  uint32_t add(uint32_t parent, FrameKey frame, uint32_t hash_value) noexcept {
    const uint32_t id = count_++;
    uint32_t& head = heads_[bucket(hash_value)];
    nodes_[id] = {frame, parent, head, hash_value, 0};
    head = id;
    split_one_bucket();
    return id;
  }

 private:
  static constexpr uint32_t kFirstBuckets = 512;
  static_assert(std::has_single_bit(kFirstBuckets), "mask_ has the bits below");
  static constexpr uint32_t kMaxNodes = uint32_t{1} << 31;

  [[nodiscard]] uint32_t bucket(uint32_t hash_value) const noexcept {
    const uint32_t low = hash_value & mask_;
    return low < split_ ? hash_value & (2 * mask_ + 1) : low;
  }

  void split_one_bucket() noexcept {
    const uint32_t buckets = mask_ + 1 + split_;
    // Without memory for more buckets, chains get longer: slower, but still correct.
    if (count_ <= buckets || !heads_.ensure(*arena_, buckets)) return;
    uint32_t stay = 0;
    uint32_t move = 0;
    for (uint32_t id = heads_[split_]; id != 0;) {
      Node& node = nodes_[id];
      const uint32_t next = node.next;
      uint32_t& chain = (node.hash & (mask_ + 1)) != 0 ? move : stay;
      node.next = chain;
      chain = id;
      id = next;
    }
    heads_[split_] = stay;
    heads_[buckets] = move;
    if (++split_ == mask_ + 1) {
      mask_ = 2 * mask_ + 1;
      split_ = 0;
    }
  }

  Arena* arena_ = nullptr;
  SegmentedArray<Node, 8> nodes_;
  SegmentedArray<uint32_t, 9> heads_;
  uint32_t count_ = 1;
  uint32_t mask_ = kFirstBuckets - 1;  // buckets before this round of splits, minus one
  uint32_t split_ = 0;                 // next bucket to split in this round
};

}  // namespace hpcrun
