#include "hpcrun/guest/program_file.h"

#include <string_view>

#include "hpcrun/elf/headers.h"
#include "hpcrun/guest/file_reader.h"
#include "hpcrun/guest/sanitizer_names.h"

namespace hpcrun {

namespace {

constexpr char kGoSection[] = ".go.buildinfo";

enum class Loader : uint8_t { None, Glibc, Other };

// Determines the loader. glibc's names: ld-linux-x86-64.so.2, ld-lsb-x86-64.so.3, ld-2.31.so and similar.
Loader loader_of(const FileReader& file, const Elf64_Ehdr& header) noexcept {
  Elf64_Phdr segment;
  if (!find_segment(file, header, PT_INTERP, segment)) return Loader::None;
  char path[256];
  const uint64_t bytes = segment.p_filesz < sizeof path ? segment.p_filesz : sizeof path;
  const long got = file.read_some(segment.p_offset, path, bytes);
  if (got <= 0) return Loader::None;
  std::string_view name(path, static_cast<size_t>(got));
  name.remove_prefix(name.rfind('/') + 1);  // the whole path if there is no slash
  for (const std::string_view known : {"ld-linux", "ld-lsb", "ld-2."})
    if (name.starts_with(known)) return Loader::Glibc;
  return Loader::Other;
}

bool has_go_section(const FileReader& file, const Elf64_Ehdr& header) noexcept {
  Elf64_Shdr names;
  if (!read_name_section(file, header, names)) return false;
  return any_section(file, header, [&](const Elf64_Shdr& section) {
    return section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_ALLOC) &&
           is_named(file, names, section, kGoSection);
  });
}

// The names of dynamic symbols are the only string table that is loaded.
bool is_sanitized(const FileReader& file, const Elf64_Ehdr& header) noexcept {
  return any_section(file, header, [&](const Elf64_Shdr& section) {
    if (section.sh_type != SHT_STRTAB || !(section.sh_flags & SHF_ALLOC)) return false;
    SanitizerNames names;
    char piece[1024];
    constexpr size_t kOverlap = SanitizerNames::kLongest + 2;  // including the null bytes around it
    for (uint64_t at = 0; at < section.sh_size; at += sizeof piece - kOverlap) {
      const size_t wanted = section.sh_size - at < sizeof piece ? section.sh_size - at : sizeof piece;
      const long got = file.read_some(section.sh_offset + at, piece, wanted);
      if (got <= 0) return false;
      if (names.take(piece, static_cast<size_t>(got))) return true;
    }
    return false;
  });
}

}  // namespace

ProgramKind program_kind(const char* path) noexcept {
  const FileReader file(path);
  if (!file.is_open()) return ProgramKind::Unreadable;
  Elf64_Ehdr header;
  switch (read_elf_header(file, header)) {
    case ElfStatus::Ok:
      break;
    case ElfStatus::Foreign:
      return ProgramKind::Foreign;
    default:
      return ProgramKind::NotElf;
  }
  if (header.e_machine != EM_X86_64) return ProgramKind::Foreign;
  if (has_go_section(file, header)) return ProgramKind::Go;
  switch (loader_of(file, header)) {
    case Loader::None:
      return ProgramKind::Static;
    case Loader::Other:
      return ProgramKind::OtherLibc;
    default:
      return is_sanitized(file, header) ? ProgramKind::Sanitized : ProgramKind::Dynamic;
  }
}

bool script_interpreter(const char* path, char* interpreter, size_t bytes) noexcept {
  constexpr size_t kMark = 2;  // "#!"
  const FileReader file(path);
  if (!file.is_open() || bytes <= kMark) return false;
  const long got = file.read_some(0, interpreter, bytes - 1);
  if (got < static_cast<long>(kMark) || interpreter[0] != '#' || interpreter[1] != '!') return false;
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  long at = kMark;
  while (at < got && is_blank(interpreter[at])) ++at;
  size_t length = 0;
  for (; at < got && !is_blank(interpreter[at]) && interpreter[at] != '\n'; ++at)
    interpreter[length++] = interpreter[at];
  interpreter[length] = '\0';
  return length != 0;
}

}  // namespace hpcrun
