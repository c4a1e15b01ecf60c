#include "repair/isolate/atomics/annotated.h"

#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

#include "repair/isolate/pass/regions.h"

using namespace hpcrun;

namespace {

struct Other {
  Elf64_Nhdr head{4, 8, 3};
  char name[4] = {'G', 'N', 'U'};
  char content[8] = {};
};

// Checks a module whose notes are these bytes.
bool is_annotated_by(const std::vector<char>& notes, uint64_t alignment = 4) {
  Elf64_Phdr part{};
  part.p_type = PT_NOTE;
  part.p_align = alignment;
  part.p_vaddr = 100;
  part.p_memsz = notes.size();
  dl_phdr_info module{};
  module.dlpi_addr = reinterpret_cast<Elf64_Addr>(notes.data()) - part.p_vaddr;
  module.dlpi_phdr = &part;
  module.dlpi_phnum = 1;
  return is_annotated(module);
}

template <class... Notes>
std::vector<char> bytes_of(const Notes&... notes) {
  std::vector<char> bytes;
  const auto add = [&](const auto& note) {
    bytes.resize(bytes.size() + sizeof note);
    std::memcpy(bytes.data() + bytes.size() - sizeof note, &note, sizeof note);
  };
  (add(notes), ...);
  return bytes;
}

ProfRegionsNote complete() {
  ProfRegionsNote note;
  note.complete = 1;
  return note;
}

}  // namespace

TEST_CASE("A module is annotated where its note says that all of it is") {
  CHECK(is_annotated_by(bytes_of(complete())));
  CHECK(is_annotated_by(bytes_of(Other(), complete())));
  CHECK(is_annotated_by(bytes_of(complete(), Other())));
  CHECK(is_annotated_by(bytes_of(ProfRegionsNote(), complete())));
}

TEST_CASE("No other module is") {
  CHECK_FALSE(is_annotated_by({}));
  CHECK_FALSE(is_annotated_by(bytes_of(Other())));
  CHECK_FALSE(is_annotated_by(bytes_of(ProfRegionsNote())));
  ProfRegionsNote newer = complete();
  newer.version = kProfRegionsVersion + 1;
  CHECK_FALSE(is_annotated_by(bytes_of(newer)));
  CHECK_FALSE(is_annotated(dl_phdr_info{}));
}

TEST_CASE("Notes that are cut off, or not laid out as ours, end the search") {
  std::vector<char> cut = bytes_of(complete());
  cut.pop_back();
  CHECK_FALSE(is_annotated_by(cut));
  Other large;
  large.head.n_descsz = ~0u;
  CHECK_FALSE(is_annotated_by(bytes_of(large, complete())));
  CHECK_FALSE(is_annotated_by(bytes_of(complete()), 8));
}
