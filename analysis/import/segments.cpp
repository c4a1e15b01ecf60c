#include "analysis/import/segments.h"

#include <gelf.h>

#include <algorithm>

#include "hpcrun/measurement/regular_file.h"

namespace prof {
namespace {

constexpr uint64_t kPage = 4096;  // mappings begin and end at page boundaries

}  // namespace

std::vector<Segments::Segment> Segments::read(const std::string& path) {
  std::vector<Segment> segments;
  const RegularFile file(path);
  if (!file.is_open()) return segments;
  elf_version(EV_CURRENT);
  Elf* const elf = elf_begin(file.descriptor(), ELF_C_READ_MMAP, nullptr);
  size_t count = 0;
  if (elf != nullptr && elf_getphdrnum(elf, &count) == 0) {
    for (size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
      const uint64_t begin = header.p_offset / kPage * kPage;
      segments.push_back({begin, header.p_offset + header.p_filesz - begin,
                          header.p_vaddr - (header.p_offset - begin), header.p_vaddr + header.p_memsz,
                          (header.p_flags & PF_X) != 0});
    }
  }
  elf_end(elf);
  // A page may belong to two segments; recorded addresses are those of code.
  std::stable_partition(segments.begin(), segments.end(), [](const Segment& s) { return s.code; });
  return segments;
}

const std::vector<Segments::Segment>& Segments::segments_of(const std::string& path) {
  auto at = files_.find(path);
  if (at == files_.end()) at = files_.emplace(path, read(path)).first;
  return at->second;
}

uint64_t Segments::address_of(const std::string& path, uint64_t offset) {
  for (const Segment& segment : segments_of(path))
    if (offset >= segment.offset && offset - segment.offset < segment.bytes)
      return offset - segment.offset + segment.address;
  return offset;
}

Segments::Extent Segments::extent(const std::string& path) {
  const std::vector<Segment>& segments = segments_of(path);
  if (segments.empty()) return {};
  Extent extent{UINT64_MAX, 0};
  for (const Segment& segment : segments) {
    extent.begin = std::min(extent.begin, segment.address);
    extent.end = std::max(extent.end, segment.end);
  }
  return extent.begin < extent.end ? extent : Extent{};
}

}  // namespace prof
