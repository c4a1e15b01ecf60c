#include "prof/external_sampler/image.h"

#include <gelf.h>
#include <sys/auxv.h>

#include <cstring>

#include "analysis/attribution/elf_section.h"
#include "hpcrun/elf/headers.h"
#include "hpcrun/guest/program_file.h"
#include "hpcrun/measurement/regular_file.h"
#include "hpcrun/unwind/compile.h"

namespace prof {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxVdsoBytes = 1 << 20;

}  // namespace

Image::Image(const std::string& path) : path_(path) {
  elf_version(EV_CURRENT);
  open(path);
  if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF) return;
  is_go_ = hpcrun::program_kind(path.c_str()) == hpcrun::ProgramKind::Go;
  read_segments();
  read_build_id();
  compile();
}

void Image::open(const std::string& path) {
  if (path == "[vdso]") {
    auto* start = reinterpret_cast<char*>(getauxval(AT_SYSINFO_EHDR));
    if (!start) return;
    Elf64_Ehdr header;
    const hpcrun::MappedSource vdso(reinterpret_cast<uint64_t>(start));
    if (read_elf_header(vdso, header) != hpcrun::ElfStatus::Ok) return;
    const uint64_t bytes = hpcrun::end_of_sections(header);
    if (bytes <= kMaxVdsoBytes) elf_.reset(elf_memory(start, bytes));
    return;
  }
  const RegularFile file(path);
  if (!file.is_open()) return;
  file_ = {file.status().st_dev, file.status().st_ino, file.size()};
  elf_.reset(elf_begin(file.descriptor(), ELF_C_READ_MMAP, nullptr));
  if (elf_) elf_cntl(elf_.get(), ELF_C_FDDONE);  // the file is mapped, so the descriptor can be closed
}

void Image::read_segments() {
  size_t count = 0;
  if (elf_getphdrnum(elf_.get(), &count) != 0) return;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_.get(), static_cast<int>(i), &header) && header.p_type == PT_LOAD &&
        (header.p_flags & PF_X))
      code_.push_back({header.p_vaddr, header.p_offset, header.p_filesz});
  }
}

void Image::read_build_id() {
  for (Elf_Scn* section = elf_nextscn(elf_.get(), nullptr); section;
       section = elf_nextscn(elf_.get(), section)) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Nhdr note;
    size_t name;
    size_t description;
    for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &description)) != 0;) {
      const auto* bytes = static_cast<const uint8_t*>(data->d_buf);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
          std::memcmp(bytes + name, "GNU", sizeof "GNU") == 0)
        build_id_.assign(bytes + description, bytes + description + note.n_descsz);
    }
  }
}

void Image::compile() {
  const ElfSection frames = find_section(elf_.get(), ".eh_frame");
  const ElfSection header = find_section(elf_.get(), ".eh_frame_hdr");
  const ElfSection debug = find_section(elf_.get(), ".debug_frame");
  const auto bytes = [](const ElfSection& section) {
    return hpcrun::Bytes{section.bytes.data(), section.bytes.size()};
  };
  hpcrun::CfiSources sources;
  sources.eh_frame = {bytes(frames), frames.address, 0, false};
  sources.eh_frame_hdr = bytes(header);
  sources.eh_frame_hdr_address = header.address;
  sources.debug_frame = {bytes(debug), debug.address, 0, true};
  has_table_ = hpcrun::compile_table(sources, table_) == hpcrun::CompileStatus::Ok;
}

uint64_t Image::load_bias(uint64_t mapped_at, uint64_t file_offset) const {
  for (const Segment& segment : code_) {
    const uint64_t first_page = segment.file_offset / kPage * kPage;
    if (file_offset >= first_page && file_offset < segment.file_offset + segment.bytes)
      return mapped_at - file_offset - (segment.address - segment.file_offset);
  }
  return mapped_at - file_offset;
}

bool Image::is_entry(uint64_t address) const {
  constexpr uint64_t kEntryBytes = 128;  // a few instructions that call a function in C
  GElf_Ehdr header;
  return elf_ && gelf_getehdr(elf_.get(), &header) && header.e_entry != 0 && address >= header.e_entry &&
         address - header.e_entry < kEntryBytes;
}

const uint8_t* Image::code_at(uint64_t address, uint64_t before, uint64_t behind) const {
  size_t size = 0;
  const char* const file = elf_rawfile(elf_.get(), &size);
  for (const Segment& segment : code_) {
    if (address < segment.address || address - segment.address > segment.bytes) continue;
    const uint64_t from_start = address - segment.address;
    const uint64_t at = segment.file_offset + from_start;
    if (from_start < before || segment.bytes - from_start < behind || !file || at > size ||
        size - at < behind)
      return nullptr;
    return reinterpret_cast<const uint8_t*>(file) + at;
  }
  return nullptr;
}

bool Image::starts_goroutine(uint64_t address) const {
  const uint8_t* const code = code_at(address, 1, 1);
  return is_go_ && code && code[-1] == 0x90 && code[0] == 0xe8;
}

// E8 rel32, or FF /2 with a ModRM byte and 0, 1, 2, 4 or 5 bytes after it.
bool Image::follows_call(uint64_t address) const {
  constexpr uint64_t kLongestCall = 7;
  uint64_t before = kLongestCall;
  const uint8_t* code = nullptr;
  while (before > 1 && !(code = code_at(address, before, 0))) --before;
  if (!code) return false;
  const auto at = [&](uint64_t back) -> uint8_t { return back <= before ? *(code - back) : 0; };
  if (at(5) == 0xe8) return true;
  for (const uint64_t length : {2u, 3u, 4u, 6u, 7u})
    if (at(length) == 0xff && (at(length - 1) >> 3 & 7) == 2) return true;
  return false;
}

}  // namespace prof
