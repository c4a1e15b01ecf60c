#include "analysis/import/perf/code_reader.h"

#include <gelf.h>

#include <algorithm>

namespace prof::perf {

std::vector<CodeReader::Segment> CodeReader::code_of(Elf* elf) {
  std::vector<Segment> code;
  size_t size = 0, count = 0;
  const auto* const bytes = elf ? reinterpret_cast<const uint8_t*>(elf_rawfile(elf, &size)) : nullptr;
  GElf_Ehdr file;
  if (bytes == nullptr || gelf_getehdr(elf, &file) == nullptr || file.e_machine != EM_X86_64 ||
      elf_getphdrnum(elf, &count) != 0)
    return code;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD ||
        (header.p_flags & PF_X) == 0 || header.p_offset > size)
      continue;
    code.push_back({header.p_vaddr, bytes + header.p_offset,
                    std::min<uint64_t>(header.p_filesz, size - header.p_offset)});
  }
  return code;
}

CodeReader::File& CodeReader::file_of(const ModuleIdentity& module) {
  std::unique_ptr<File>& file = files_[{module.path, module.build_id}];
  if (!file) {
    file = std::make_unique<File>();
    if (file->file.open(module, options_) == OpenFailure::None) file->code = code_of(file->file.elf());
  }
  return *file;
}

const hpcrun::Instruction* CodeReader::instruction(const ModuleIdentity& module, uint64_t address) {
  File& file = file_of(module);
  const auto segment = std::ranges::find_if(file.code, [address](const Segment& one) {
    return address >= one.address && address - one.address < one.size;
  });
  if (segment == file.code.end()) return nullptr;
  const auto [known, added] = file.decoded.try_emplace(address);
  if (added) {
    const uint64_t offset = address - segment->address;
    const size_t count = std::min<uint64_t>(segment->size - offset, hpcrun::kMaxInstructionBytes);
    hpcrun::Instruction decoded;
    if (hpcrun::decode(segment->bytes + offset, count, address, decoded)) known->second = decoded;
  }
  return known->second ? &*known->second : nullptr;
}

}  // namespace prof::perf
