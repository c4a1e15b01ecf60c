#include "hpcrun/elf/headers.h"

#include <catch2/catch.hpp>

#include "hpcrun/elf/notes.h"
#include "tests/elf/small_file.h"

using namespace hpcrun;
using prof::test::a_note;
using prof::test::SmallFile;

namespace {

SmallFile usual_file() {
  SmallFile file;
  file.add(".text", SHT_PROGBITS, std::string(100, '\x90'))
      .add(".note.gnu.build-id", SHT_NOTE,
           a_note(1, "stapsdt", "abc") + a_note(NT_GNU_BUILD_ID, "GNU", "01234567"))
      .add(".comment", SHT_PROGBITS, "GCC");
  return file;
}

Elf64_Ehdr header_of(const std::string& bytes) {
  Elf64_Ehdr header;
  REQUIRE(read_elf_header(BytesSource(std::string_view(bytes)), header) == ElfStatus::Ok);
  return header;
}

std::string names_of(const std::string& bytes) {
  const BytesSource file{std::string_view(bytes)};
  const Elf64_Ehdr header = header_of(bytes);
  Elf64_Shdr names;
  if (!read_name_section(file, header, names)) return "none";
  std::string found;
  any_section(file, header, [&](const Elf64_Shdr& section) {
    for (const char* name : {".text", ".note.gnu.build-id", ".comment", ".shstrtab"})
      if (is_named(file, names, section, name)) found += name;
    return false;
  });
  return found;
}

// A source that counts reads, and fails beyond `end`.
struct CountedSource {
  static constexpr bool kIsDirect = false;
  std::string_view bytes;
  size_t end = SIZE_MAX;
  mutable size_t reads = 0;
  bool read(uint64_t offset, void* to, size_t size) const noexcept {
    ++reads;
    if (offset > end || size > end - offset) return false;
    return BytesSource(bytes).read(offset, to, size);
  }
};

}  // namespace

TEST_CASE("segments and sections of an ELF file are found") {
  for (const bool is_extended : {false, true}) {
    SmallFile small = usual_file();
    if (is_extended) small.number_by_first_section();
    const std::string bytes = small.bytes();
    const BytesSource file{std::string_view(bytes)};
    const Elf64_Ehdr header = header_of(bytes);
    CHECK(section_count(file, header) == 5);
    CHECK(segment_count(file, header) == 4);
    CHECK(names_of(bytes) == ".text.note.gnu.build-id.comment.shstrtab");
    Elf64_Phdr notes;
    REQUIRE(find_segment(file, header, PT_NOTE, notes));
    ElfNote id;
    REQUIRE(find_build_id(file, notes.p_offset, notes.p_filesz, notes.p_align, id));
    CHECK(bytes.substr(id.description, id.description_bytes) == "01234567");
    CHECK_FALSE(find_segment(file, header, PT_INTERP, notes));
  }
}

TEST_CASE("what is not a 64-bit little-endian ELF file is refused by its kind") {
  const auto status = [](std::string bytes) {
    Elf64_Ehdr header;
    return read_elf_header(BytesSource(std::string_view(bytes)), header);
  };
  std::string bytes = usual_file().bytes();
  CHECK(status("") == ElfStatus::Unreadable);
  CHECK(status(bytes.substr(0, sizeof(Elf64_Ehdr) - 1)) == ElfStatus::Unreadable);
  CHECK(status(bytes.substr(0, sizeof(Elf64_Ehdr))) == ElfStatus::Ok);
  CHECK(status("#!/bin/sh" + std::string(100, ' ')) == ElfStatus::NotElf);
  bytes[EI_CLASS] = ELFCLASS32;
  CHECK(status(bytes) == ElfStatus::Foreign);
  bytes[EI_CLASS] = ELFCLASS64;
  bytes[EI_DATA] = ELFDATA2MSB;
  CHECK(status(bytes) == ElfStatus::Foreign);
}

TEST_CASE("tables that are cut or lie outside the file yield what is there") {
  const std::string bytes = usual_file().bytes();
  const auto changed = [&](auto change) {
    std::string file = bytes;
    Elf64_Ehdr header = header_of(file);
    change(header);
    std::memcpy(file.data(), &header, sizeof header);
    return file;
  };
  CHECK(names_of(changed([](Elf64_Ehdr& h) { h.e_shoff = UINT64_MAX - 32; })) == "none");
  CHECK(names_of(changed([](Elf64_Ehdr& h) { h.e_shoff = 0; })) == "none");
  CHECK(names_of(changed([](Elf64_Ehdr& h) { h.e_shstrndx = 5; })) == "none");
  CHECK(names_of(changed([](Elf64_Ehdr& h) { h.e_shstrndx = SHN_XINDEX; })) == "none");
  CHECK(names_of(changed([](Elf64_Ehdr& h) { h.e_shentsize = 8; })) == "none");
  CHECK(names_of(changed([](Elf64_Ehdr& h) { h.e_shnum = 0xfeff; })) ==
        ".text.note.gnu.build-id.comment.shstrtab");
  const std::string lost = changed([](Elf64_Ehdr& h) { h.e_phoff = UINT64_MAX - 8; });
  Elf64_Phdr segment;
  CHECK_FALSE(find_segment(BytesSource(std::string_view(lost)), header_of(lost), PT_LOAD, segment));
}

TEST_CASE("a source that costs a call is read a few items at a time, up to its end") {
  const std::string bytes = usual_file().bytes();
  const Elf64_Ehdr header = header_of(bytes);
  const auto count = [&](const CountedSource& source) {
    size_t sections = 0;
    any_section(source, header, [&](const Elf64_Shdr&) {
      ++sections;
      return false;
    });
    return sections;
  };
  const CountedSource whole{bytes};
  CHECK(count(whole) == 5);
  CHECK(whole.reads == 2);
  CHECK(count({bytes, header.e_shoff + 3 * sizeof(Elf64_Shdr) + 1}) == 3);
}

TEST_CASE("notes are read with the padding of their segment") {
  for (const size_t align : {4u, 8u}) {
    const std::string notes =
        a_note(5, "GNU", "0123456789", align) + a_note(NT_GNU_BUILD_ID, "GNU", "abcd", align);
    const BytesSource source{std::string_view(notes)};
    ElfNote id;
    REQUIRE(find_build_id(source, 0, notes.size(), align, id));
    CHECK(notes.substr(id.description, id.description_bytes) == "abcd");
    CHECK(id.end == notes.size());
  }
}

TEST_CASE("notes that do not end within their segment end the search") {
  std::string notes = a_note(NT_GNU_BUILD_ID, "GNU", "abcd");
  ElfNote id;
  const auto finds = [&](uint64_t start, uint64_t bytes) {
    return find_build_id(BytesSource(std::string_view(notes)), start, bytes, 4, id);
  };
  CHECK(finds(0, notes.size()));
  for (size_t bytes = 0; bytes < notes.size(); ++bytes) CHECK_FALSE(finds(0, bytes));
  CHECK_FALSE(finds(UINT64_MAX - 4, 100));
  CHECK_FALSE(finds(1 << 20, 100));
  const uint32_t huge = UINT32_MAX;
  std::memcpy(notes.data(), &huge, sizeof huge);
  CHECK_FALSE(finds(0, notes.size()));
  const std::string other = a_note(NT_GNU_BUILD_ID, "Go!", "abcd");
  CHECK_FALSE(find_build_id(BytesSource(std::string_view(other)), 0, other.size(), 4, id));
}

TEST_CASE("strings match as a whole and within their table") {
  const std::string table("\0one\0two", 8);  // the last has no zero
  const BytesSource source{std::string_view(table)};
  CHECK(string_is(source, 0, table.size(), 1, "one"));
  CHECK_FALSE(string_is(source, 0, table.size(), 1, "on"));
  CHECK_FALSE(string_is(source, 0, table.size(), 5, "two"));
  CHECK_FALSE(string_is(source, 0, 4, 1, "one"));
  CHECK_FALSE(string_is(source, UINT64_MAX, UINT64_MAX, 1, "one"));
  CHECK_FALSE(string_is(source, 0, UINT64_MAX, UINT64_MAX, ""));
}
