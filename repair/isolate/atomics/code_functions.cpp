#include "repair/isolate/atomics/code_functions.h"

#include <algorithm>

#include "hpcrun/elf/frame_index.h"
#include "hpcrun/elf/frame_records.h"
#include "hpcrun/elf/headers.h"

namespace hpcrun {

CodeFunctions::CodeFunctions(const dl_phdr_info& module) noexcept {
  const Elf64_Phdr* const header = find_segment(module.dlpi_phdr, module.dlpi_phnum, PT_GNU_EH_FRAME);
  if (!header) {
    refusal_ = "it has no unwind information";
    return;
  }
  header_ = module.dlpi_addr + header->p_vaddr;
  FrameIndex index;
  if (!read_frame_index({reinterpret_cast<const uint8_t*>(header_), header->p_memsz}, index)) {
    refusal_ = "the index of its unwind information has an unknown format";
    return;
  }
  entries_ = header_ + index.head_bytes;
  size_ = static_cast<uint32_t>(index.count);
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const Elf64_Phdr& segment = module.dlpi_phdr[i];
    const uint64_t low = module.dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || header_ < low || header_ - low >= segment.p_filesz) continue;
    segment_ = low;
    segment_bytes_ = segment.p_filesz;
  }
}

CodeFunctions::Entry CodeFunctions::entry(uint32_t number) const noexcept {
  FrameIndexEntry entry{};
  (void)read_item(MappedSource(), entries_, number, entry);  // mapped memory is readable
  return {header_ + static_cast<uint64_t>(int64_t{entry.function}),
          header_ + static_cast<uint64_t>(int64_t{entry.record})};
}

CodeFunction CodeFunctions::operator[](uint32_t number) const noexcept {
  const auto [low, at] = entry(number);
  const CfiSection frames{{reinterpret_cast<const uint8_t*>(segment_), segment_bytes_}, segment_, 0, false};
  const CfiRecord record = split_record(frames, at - segment_);
  if (record.kind != CfiRecordKind::Fde || record.cie_offset < 0) return {low, low};
  const CfiRecord common = split_record(frames, static_cast<uint64_t>(record.cie_offset));
  Cie cie;
  Fde fde;
  if (common.kind != CfiRecordKind::Cie || !parse_cie(common.body, cie) ||
      !parse_fde(frames, record.body, cie, fde))
    return {low, low};
  uint64_t high = low + (fde.end - fde.start);
  if (number + 1 < size_) high = std::min(high, entry(number + 1).low);
  return {low, high};
}

}  // namespace hpcrun
