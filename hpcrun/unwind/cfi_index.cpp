#include "hpcrun/unwind/cfi_index.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "hpcrun/unwind/compile.h"
#include "hpcrun/unwind/table_memory.h"

namespace hpcrun {
namespace {

constexpr uint8_t kUsualForm[] = {1, kPointerPcRelative | kPointerS4, kPointerU4,
                                  kPointerDataRelative | kPointerS4};
constexpr size_t kHeaderBytes = sizeof kUsualForm + 4 + 4;  // where .eh_frame is, and how many entries follow

void* copy(const void* from, size_t bytes) noexcept {
  void* const to = lasting_allocate(bytes);
  return to ? std::memcpy(to, from, bytes) : nullptr;
}

}  // namespace

const CfiIndex* CfiIndex::build(const CfiSources& sources, uint32_t least_functions) noexcept {
  const Bytes header = sources.eh_frame_hdr;
  if (sources.debug_frame.bytes.size != 0 || header.size < kHeaderBytes ||
      std::memcmp(header.data, kUsualForm, sizeof kUsualForm) != 0)
    return nullptr;
  CfiIndex index;
  std::memcpy(&index.count_, header.data + kHeaderBytes - sizeof index.count_, sizeof index.count_);
  if (index.count_ < std::max(1u, least_functions) ||
      index.count_ > (header.size - kHeaderBytes) / sizeof(Entry))
    return nullptr;
  const auto* const entries = reinterpret_cast<const Entry*>(header.data + kHeaderBytes);
  const auto starts_before = [](const Entry& a, const Entry& b) { return a.start < b.start; };
  if (!std::is_sorted(entries, entries + index.count_, starts_before)) return nullptr;

  // What is behind the last function's record is something else's.
  index.header_ = sources.eh_frame_hdr_address;
  index.section_ = sources.eh_frame;
  const auto last = std::max_element(entries, entries + index.count_,
                                     [](const Entry& a, const Entry& b) { return a.fde < b.fde; });
  const uint64_t offset = index.header_ + static_cast<uint64_t>(int64_t{last->fde}) - index.section_.address;
  if (offset >= index.section_.bytes.size) return nullptr;
  const CfiRecord record = split_record(index.section_, offset);
  if (record.kind != CfiRecordKind::Fde) return nullptr;
  index.section_.bytes.size = record.next;

  index.entries_ = static_cast<const Entry*>(copy(entries, index.count_ * sizeof(Entry)));
  index.section_.bytes.data =
      static_cast<const uint8_t*>(copy(index.section_.bytes.data, index.section_.bytes.size));
  void* const at = lasting_allocate(sizeof(CfiIndex));
  return at && index.entries_ && index.section_.bytes.data ? new (at) CfiIndex(index) : nullptr;
}

bool CfiIndex::parse(uint64_t fde_address, Cie& cie, Fde& fde) const noexcept {
  const uint64_t offset = fde_address - section_.address;
  if (offset >= section_.bytes.size) return false;
  const CfiRecord record = split_record(section_, offset);
  if (record.kind != CfiRecordKind::Fde || record.cie_offset < 0) return false;
  const CfiRecord of_cie = split_record(section_, static_cast<uint64_t>(record.cie_offset));
  return of_cie.kind == CfiRecordKind::Cie && parse_cie(section_, of_cie.body, cie) &&
         parse_fde(section_, record.body, cie, fde);
}

bool CfiIndex::find(uint64_t elf_address, Row row) const noexcept {
  const auto wanted = static_cast<int64_t>(elf_address - header_);
  const Entry* const after =
      std::upper_bound(entries_, entries_ + count_, wanted,
                       [](int64_t address, const Entry& entry) { return address < entry.start; });
  if (after == entries_) return false;
  if (!parse(header_ + static_cast<uint64_t>(int64_t{after[-1].fde}), row.cie, row.fde)) return false;
  if (elf_address < row.fde.start || elf_address >= row.fde.end + kPaddingBytes) return false;
  // Padding has the rule of the function before it.
  return row.machine.start(row.cie, row.fde, false) &&
         row.machine.run_to(std::min(elf_address, row.fde.end - 1));
}

}  // namespace hpcrun
