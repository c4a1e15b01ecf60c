#include "hpcrun/unwind/table.h"

namespace hpcrun {

namespace {
constexpr Rule kNoRule{};
}

const Rule& lookup(const UnwindTable& table, uint64_t elf_address) noexcept {
  if (elf_address < table.first || elf_address >= table.end || table.row_count == 0) return kNoRule;
  const uint32_t offset = static_cast<uint32_t>(elf_address - table.first);
  const uint32_t block = offset >> UnwindTable::kBlockShift;
  uint32_t low = table.blocks[block];
  uint32_t high = block + 1 < table.block_count ? table.blocks[block + 1] : table.row_count - 1;
  // rows[low].offset <= offset, and the row in force is at most high.
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    if (table.rows[middle].offset <= offset) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return table.rules[table.rows[low].rule];
}

}  // namespace hpcrun
