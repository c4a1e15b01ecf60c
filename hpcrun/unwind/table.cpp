#include "hpcrun/unwind/table.h"

namespace hpcrun {

namespace {

constexpr Rule kNoRule{};

bool covers(const UnwindTable& table, uint64_t elf_address) noexcept {
  return elf_address >= table.first && elf_address < table.end && table.row_count != 0;
}

const Row& row_at(const UnwindTable& table, uint64_t elf_address) noexcept {
  const uint32_t offset = static_cast<uint32_t>(elf_address - table.first);
  const uint32_t block = offset >> UnwindTable::kBlockShift;
  uint32_t low = table.blocks[block];
  uint32_t high = block + 1 < table.block_count ? table.blocks[block + 1] : table.row_count - 1;
  // Invariant: rows[low].offset <= offset, and the row in force is at most high.
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    if (table.rows[middle].offset <= offset) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return table.rows[low];
}

}  // namespace

const Rule& lookup(const UnwindTable& table, uint64_t elf_address) noexcept {
  return covers(table, elf_address) ? table.rules[row_at(table, elf_address).rule] : kNoRule;
}

uint64_t row_begin(const UnwindTable& table, uint64_t elf_address) noexcept {
  return covers(table, elf_address) ? table.first + row_at(table, elf_address).offset : 0;
}

}  // namespace hpcrun
