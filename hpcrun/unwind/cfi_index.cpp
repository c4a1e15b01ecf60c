#include "hpcrun/unwind/cfi_index.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

#include "hpcrun/unwind/compile.h"
#include "hpcrun/unwind/table_memory.h"

namespace hpcrun {
namespace {

template <typename Item>
const Item* copy(const Item* from, size_t bytes) noexcept {
  void* const to = immutable_allocate(bytes);
  return to ? static_cast<const Item*>(std::memcpy(to, from, bytes)) : nullptr;
}

// Cuts the section at the end of the last function's record; the bytes after it belong to something else.
// Returns false if the header and the section do not match.
bool end_after_last(std::span<const FrameIndexEntry> entries, uint64_t header, CfiSection& section) noexcept {
  const auto last = std::ranges::max_element(entries, {}, &FrameIndexEntry::record);
  const uint64_t offset = header + static_cast<uint64_t>(int64_t{last->record}) - section.address;
  if (offset >= section.bytes.size) return false;
  const CfiRecord record = split_record(section, offset);
  section.bytes.size = record.next;
  return record.kind == CfiRecordKind::Fde;
}

}  // namespace

const CfiIndex* CfiIndex::build(const CfiSources& sources, uint32_t least_functions) noexcept {
  const Bytes header = sources.eh_frame_hdr;
  FrameIndex found;
  if (sources.debug_frame.bytes.size != 0 || !read_frame_index(header, found) ||
      found.head_bytes != FrameIndex::kUsualHeadBytes)
    return nullptr;
  if (found.count < std::max(1u, least_functions) ||
      found.count > (header.size - found.head_bytes) / sizeof(FrameIndexEntry))
    return nullptr;
  CfiIndex index;
  index.count_ = static_cast<uint32_t>(found.count);
  const std::span entries(reinterpret_cast<const FrameIndexEntry*>(header.data + found.head_bytes),
                          index.count_);
  if (!std::ranges::is_sorted(entries, {}, &FrameIndexEntry::function)) return nullptr;
  index.header_ = sources.eh_frame_hdr_address;
  index.section_ = sources.eh_frame;
  index.entries_ = entries.data();
  if (!sources.stays) {
    if (!end_after_last(entries, index.header_, index.section_)) return nullptr;
    index.entries_ = copy(entries.data(), entries.size_bytes());
    index.section_.bytes.data = copy(index.section_.bytes.data, index.section_.bytes.size);
  }
  void* const at = immutable_allocate(sizeof(CfiIndex));
  return at && index.entries_ && index.section_.bytes.data ? new (at) CfiIndex(index) : nullptr;
}

bool CfiIndex::parse(uint64_t fde_address, Cie& cie, Fde& fde) const noexcept {
  const uint64_t offset = fde_address - section_.address;
  if (offset >= section_.bytes.size) return false;
  const CfiRecord record = split_record(section_, offset);
  if (record.kind != CfiRecordKind::Fde || record.cie_offset < 0) return false;
  const CfiRecord of_cie = split_record(section_, static_cast<uint64_t>(record.cie_offset));
  return of_cie.kind == CfiRecordKind::Cie && parse_cie(of_cie.body, cie) &&
         parse_fde(section_, record.body, cie, fde);
}

bool CfiIndex::find(uint64_t elf_address, Row row) const noexcept {
  const auto wanted = static_cast<int64_t>(elf_address - header_);
  const FrameIndexEntry* const after = std::upper_bound(
      entries_, entries_ + count_, wanted,
      [](int64_t address, const FrameIndexEntry& entry) { return address < entry.function; });
  if (after == entries_) return false;
  if (!parse(header_ + static_cast<uint64_t>(int64_t{after[-1].record}), row.cie, row.fde)) return false;
  if (elf_address < row.fde.start || elf_address >= row.fde.end + kPaddingBytes) return false;
  // Padding has the rule of the function before it.
  return row.machine.start(row.cie, row.fde, false) &&
         row.machine.run_to(std::min(elf_address, row.fde.end - 1));
}

}  // namespace hpcrun
