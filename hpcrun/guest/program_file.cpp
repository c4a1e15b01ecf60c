#include "hpcrun/guest/program_file.h"

#include <elf.h>
#include <fcntl.h>

#include <cstring>
#include <string_view>

#include "hpcrun/guest/sanitizer_names.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constexpr char kGoSection[] = ".go.buildinfo";

class File {
 public:
  explicit File(const char* path) noexcept
      : descriptor_(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                                O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (is_open()) raw_syscall(SYS_close, descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const noexcept { return descriptor_ >= 0; }

  bool read(uint64_t offset, void* to, size_t bytes) const noexcept {
    return read_some(offset, to, bytes) == static_cast<long>(bytes);
  }
  long read_some(uint64_t offset, void* to, size_t bytes) const noexcept {
    return raw_syscall(SYS_pread64, descriptor_, reinterpret_cast<long>(to), static_cast<long>(bytes),
                       static_cast<long>(offset));
  }

 private:
  long descriptor_;
};

enum class Loader : uint8_t { None, Glibc, Other };

// Determines the loader. glibc's names: ld-linux-x86-64.so.2, ld-lsb-x86-64.so.3, ld-2.31.so and similar.
Loader loader_of(const File& file, const Elf64_Ehdr& header) noexcept {
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return Loader::None;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return Loader::None;
    if (segment.p_type != PT_INTERP) continue;
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
  return Loader::None;
}

// Calls use(section) with each section header until it returns true. Returns true if one did.
template <typename Use>
bool any_section(const File& file, const Elf64_Ehdr& header, Use use) noexcept {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!file.read(header.e_shoff + i * sizeof section, &section, sizeof section)) return false;
    if (use(section)) return true;
  }
  return false;
}

bool has_go_section(const File& file, const Elf64_Ehdr& header) noexcept {
  Elf64_Shdr names;
  if (!file.read(header.e_shoff + header.e_shstrndx * sizeof names, &names, sizeof names)) return false;
  return any_section(file, header, [&](const Elf64_Shdr& section) {
    char name[sizeof kGoSection];
    return section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_ALLOC) &&
           file.read(names.sh_offset + section.sh_name, name, sizeof name) &&
           std::memcmp(name, kGoSection, sizeof name) == 0;
  });
}

// The names of dynamic symbols are the only string table that is loaded.
bool is_sanitized(const File& file, const Elf64_Ehdr& header) noexcept {
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
  const File file(path);
  if (!file.is_open()) return ProgramKind::Unreadable;
  Elf64_Ehdr header;
  if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return ProgramKind::NotElf;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return ProgramKind::Foreign;
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
  const File file(path);
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
