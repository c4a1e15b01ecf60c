#pragma once
// Bytes that wait in memory to be written: in blocks that stay where they are, of large pages where the
// system has them, for most of what small ones cost is being asked for.

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

namespace prof {

class HeldBytes {
 public:
  uint64_t size() const { return size_; }

  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto used = static_cast<size_t>(size_ % kBlock);
      if (used == 0) blocks_.push_back(new_block());
      const size_t taken = std::min(bytes.size(), kBlock - used);
      std::memcpy(blocks_.back().get() + used, bytes.data(), taken);
      bytes.remove_prefix(taken);
      size_ += taken;
    }
  }

  // In their order.
  template <typename Use>
  void for_each(Use use) const {
    uint64_t left = size_;
    for (const Block& block : blocks_) {
      const auto bytes = static_cast<size_t>(std::min<uint64_t>(left, kBlock));
      use(std::string_view(block.get(), bytes));
      left -= bytes;
    }
  }

 private:
  static constexpr size_t kLargePage = 2 << 20, kBlock = 4 * kLargePage;

  struct Free {
    void operator()(char* block) const { std::free(block); }
  };
  using Block = std::unique_ptr<char, Free>;

  static Block new_block() {
    Block block(static_cast<char*>(std::aligned_alloc(kLargePage, kBlock)));
    if (!block) throw std::bad_alloc();
    madvise(block.get(), kBlock, MADV_HUGEPAGE);  // small ones do as well
    return block;
  }

  std::vector<Block> blocks_;
  uint64_t size_ = 0;
};

}  // namespace prof
