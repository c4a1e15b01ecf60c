// A table that one process leaves is found unchanged by others, and a file that is not that table is ignored.

#include "hpcrun/unwind/shared_tables.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace hpcrun;
namespace fs = std::filesystem;

namespace {

constexpr uint32_t kRows = 300;
constexpr uint8_t kCieInstructions[] = {0x0c, 7, 8};
constexpr uint8_t kFdeInstructions[] = {0x41, 0x0e, 16, 0x42};

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/prof-tables-XXXXXX";
    path = mkdtemp(name);
    share_tables_in(path.c_str());
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::vector<fs::path> files() const { return {fs::directory_iterator(path), fs::directory_iterator()}; }
};

ImageDescription an_image() {
  ImageDescription image;
  image.load_bias = 0x7f0000000000;
  image.text_start = image.load_bias + 0x1000;
  image.text_end = image.load_bias + 0x9000;
  image.eh_frame_hdr = image.load_bias + 0xa000;
  image.eh_frame_hdr_bytes = 0x400;
  image.build_id_bytes = 20;
  for (uint8_t i = 0; i < 20; ++i) image.build_id[i] = static_cast<uint8_t>(0xa0 + i);
  return image;
}

// Rules in turn, every third of which is a program.
struct Made {
  std::vector<Row> rows;
  std::vector<uint32_t> blocks;
  std::vector<Rule> rules{3};
  CfiProgram program;
  UnwindTable table;

  explicit Made(uint32_t row_count = kRows) {
    rules[1].kind = RuleKind::RegisterOffset;
    rules[1].cfa_offset = 24;
    rules[2].kind = RuleKind::Interpret;
    program.cie.instructions = {kCieInstructions, sizeof kCieInstructions};
    program.fde.instructions = {kFdeInstructions, sizeof kFdeInstructions};
    program.fde.start = 0x1010;
    program.fde.end = 0x1020;
    for (uint32_t i = 0; i < row_count; ++i) rows.push_back({i * 16, i % 3});
    for (uint32_t at = 0; at < row_count * 16; at += 1u << UnwindTable::kBlockShift)
      blocks.push_back(at / 16);
    const auto count = [](const auto& all) { return static_cast<uint32_t>(all.size()); };
    table = {0x1000,        0x1000 + row_count * 16,
             rows.data(),   count(rows),
             blocks.data(), count(blocks),
             rules.data(),  count(rules),
             &program,      1};
  }
};

fs::path the_shared_file(const Folder& folder) {
  share_table(an_image(), Made().table);
  const std::vector<fs::path> files = folder.files();
  REQUIRE(files.size() == 1);
  REQUIRE(find_shared_table(an_image()));
  return files[0];
}

}  // namespace

TEST_CASE("a shared table answers as the one that was shared") {
  const Folder folder;
  const Made made;
  CHECK(find_shared_table(an_image()) == nullptr);
  share_table(an_image(), made.table);
  ImageDescription elsewhere = an_image();
  for (uint64_t* at :
       {&elsewhere.load_bias, &elsewhere.text_start, &elsewhere.text_end, &elsewhere.eh_frame_hdr})
    *at += 0x10000;
  const UnwindTable* found = find_shared_table(elsewhere);
  REQUIRE(found);
  for (uint64_t at = made.table.first - 8; at < made.table.end + 8; at += 4)
    REQUIRE(lookup(*found, at) == lookup(made.table, at));
  REQUIRE(found->program_count == 1);
  const CfiProgram& program = found->programs[0];
  CHECK(program.fde.start == made.program.fde.start);
  REQUIRE(program.cie.instructions.size == sizeof kCieInstructions);
  CHECK(std::memcmp(program.cie.instructions.data, kCieInstructions, sizeof kCieInstructions) == 0);
  REQUIRE(program.fde.instructions.size == sizeof kFdeInstructions);
  CHECK(std::memcmp(program.fde.instructions.data, kFdeInstructions, sizeof kFdeInstructions) == 0);
  CHECK(shared_table_bytes() >= fs::file_size(folder.files()[0]));
}

TEST_CASE("a file of the same build id with other sections is another") {
  const Folder folder;
  the_shared_file(folder);
  ImageDescription edited = an_image();
  edited.eh_frame_hdr += 8;
  CHECK(find_shared_table(edited) == nullptr);
  edited = an_image();
  edited.text_end += 16;
  CHECK(find_shared_table(edited) == nullptr);
}

TEST_CASE("a shared table that is not whole is left alone") {
  const Folder folder;
  const fs::path file = the_shared_file(folder);
  const uint64_t whole = fs::file_size(file);
  for (uint64_t bytes = 0; bytes < whole; bytes += 61) {
    fs::resize_file(file, bytes);
    REQUIRE(find_shared_table(an_image()) == nullptr);
  }
}

TEST_CASE("a program that points out of its file is left alone") {
  const Folder folder;
  Made made;
  // The stored offset of the first instruction. The pointer is the second word of a program.
  const fs::path file = the_shared_file(folder);
  const uint64_t program_at = fs::file_size(file) - sizeof kCieInstructions - sizeof kFdeInstructions -
                              sizeof(CfiProgram) + offsetof(CfiProgram, cie);
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  const uint64_t wrong = 1u << 20;
  out.seekp(static_cast<std::streamoff>(program_at + offsetof(Cie, instructions)));
  out.write(reinterpret_cast<const char*>(&wrong), sizeof wrong);
  out.close();
  CHECK(find_shared_table(an_image()) == nullptr);
}

TEST_CASE("a shared table that others may write to is left alone") {
  const Folder folder;
  const fs::path file = the_shared_file(folder);
  chmod(file.c_str(), 0620);
  CHECK(find_shared_table(an_image()) == nullptr);
  if (geteuid() == 0) {
    chmod(file.c_str(), 0600);
    REQUIRE(chown(file.c_str(), 65534, 65534) == 0);
    CHECK(find_shared_table(an_image()) == nullptr);
  }
}

TEST_CASE("nothing is shared without a folder, a build id or a table worth it") {
  const Folder folder;
  ImageDescription nameless = an_image();
  nameless.build_id_bytes = 0;
  share_table(nameless, Made().table);
  share_table(an_image(), Made(20).table);
  CHECK(folder.files().empty());
  share_tables_in((folder.path + "/none").c_str());
  share_table(an_image(), Made().table);
  CHECK(find_shared_table(an_image()) == nullptr);
  CHECK(folder.files().empty());
}
