#include "prof/cc/annotated_module.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <regex>
#include <string_view>

#include "repair/isolate/pass/regions.h"

namespace prof {

namespace {

constexpr const char* kNoteSection = ".note.prof.regions";

// True for functions of crt1.o, crti.o, crtbegin.o and similar, of libc_nonshared.a, of the linker, and for
// arithmetic of libgcc.a.
bool is_of_every_program(const std::string& name) {
  static const std::regex names(
      "_start|_init|_fini|_dl_relocate_static_pie|(de)?register_tm_clones|__do_global_dtors_aux|frame_dummy|"
      "__libc_csu_(init|fini)|atexit|at_quick_exit|__pthread_atfork|pthread_atfork|__stack_chk_fail_local|"
      "_?etext|_edata|_end|"
      "__u?(div|mod|divmod)[dt]i[34]|__u?mul[dt]i3|__mul[dsxt]c3|__div[dsxt]c3|__powi[dsxt]f2|"
      "__(fix|fixuns|float|floatun|extend|trunc)[a-z]*[0-9]?|__(add|sub|mul|div|neg)[dsxt]f[23]|"
      "__(eq|ne|lt|le|gt|ge|cmp|unord)[dsxt]f2|__(popcount|clz|ctz|ffs|parity|bswap)[dst]i2");
  return std::regex_match(name, names);
}

class File {
 public:
  explicit File(const char* path) : descriptor_(open(path, O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    if (descriptor_ >= 0) elf_.reset(elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr));
  }
  ~File() {
    elf_.reset();
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Elf* elf() const { return elf_.get(); }

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  int descriptor_;
  std::unique_ptr<Elf, End> elf_;
};

std::string_view bytes_of(Elf_Scn* section) {
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (!data || !data->d_buf) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

// Returns the file offset of `complete`.
std::optional<uint64_t> place_of_mark(Elf_Scn* section, const GElf_Shdr& header) {
  const ProfRegionsNote note;
  const std::string_view bytes = bytes_of(section);
  constexpr size_t kHead = offsetof(ProfRegionsNote, complete);
  if (bytes.size() < sizeof note || std::memcmp(bytes.data(), &note, kHead) != 0) return std::nullopt;
  return header.sh_offset + kHead;
}

bool is_marked(Elf* elf, const GElf_Sym& symbol) {
  Elf_Scn* const section = elf_getscn(elf, symbol.st_shndx);
  GElf_Shdr header;
  if (!section || !gelf_getshdr(section, &header)) return false;
  const uint64_t offset = symbol.st_value - header.sh_addr;
  const std::string_view bytes = bytes_of(section);
  constexpr size_t kMark = sizeof kProfFunctionMark;
  return offset >= kMark && offset <= bytes.size() &&
         std::memcmp(bytes.data() + offset - kMark, kProfFunctionMark, kMark) == 0;
}

bool is_code(Elf* elf, const GElf_Sym& symbol) {
  const unsigned char type = GELF_ST_TYPE(symbol.st_info);
  if (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC) return false;
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) return false;
  GElf_Shdr header;
  return gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &header) && header.sh_flags & SHF_EXECINSTR;
}

// Adds what the symbols show.
void judge(Elf* elf, Elf_Scn* section, const GElf_Shdr& table, AnnotationFound& found) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  const size_t count = table.sh_entsize ? table.sh_size / table.sh_entsize : 0;
  for (size_t i = 0; data && i < count; ++i) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, static_cast<int>(i), &symbol) || !is_code(elf, symbol)) continue;
    if (is_marked(elf, symbol)) {
      if (found.annotation == Annotation::Unknown) found.annotation = Annotation::Complete;
      continue;
    }
    const char* const name = elf_strptr(elf, table.sh_link, symbol.st_name);
    if (!name || is_of_every_program(name)) continue;
    found.annotation = Annotation::Partial;
    found.function = name;
    return;
  }
}

}  // namespace

AnnotationFound annotation_of(const std::filesystem::path& path) {
  AnnotationFound found;
  const File file(path.c_str());
  GElf_Ehdr head;
  size_t names = 0;
  if (!file.elf() || !gelf_getehdr(file.elf(), &head) || elf_getshdrstrndx(file.elf(), &names) != 0)
    return found;
  if (head.e_machine != EM_X86_64 || (head.e_type != ET_EXEC && head.e_type != ET_DYN)) return found;
  Elf_Scn* symbols = nullptr;
  GElf_Shdr table{};
  std::optional<uint64_t> mark;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(file.elf(), section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) continue;
    const char* const name = elf_strptr(file.elf(), names, header.sh_name);
    if (header.sh_type == SHT_SYMTAB) {
      symbols = section;
      table = header;
    } else if (name && std::string_view(name) == kNoteSection) {
      mark = place_of_mark(section, header);
    }
  }
  if (!mark) return found;
  found.mark_at = *mark;
  found.annotation = Annotation::Unknown;
  if (symbols) judge(file.elf(), symbols, table, found);
  return found;
}

void mark_if_annotated(const std::filesystem::path& path) {
  const AnnotationFound found = annotation_of(path);
  if (found.annotation != Annotation::Complete) return;
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  const uint32_t complete = 1;
  [[maybe_unused]] const ssize_t written =
      pwrite(file, &complete, sizeof complete, static_cast<off_t>(found.mark_at));
  close(file);
}

}  // namespace prof
