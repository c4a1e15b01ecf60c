// Names of functions without debug information.

#include <fcntl.h>
#include <fmt/format.h>
#include <libelf.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>

#include "analysis/attribution/debug_file.h"
#include "analysis/attribution/demangle.h"
#include "tests/analysis/attribution/elf_probe.h"
#include "tests/analysis/attribution/scratch_directory.h"

namespace {

namespace fs = std::filesystem;
using prof::AttributedModule;

const fs::path kWithSymbols = fs::path(FIXTURE_FOLDER) / "libfixture.so";
const fs::path kIbt = fs::path(FIXTURE_FOLDER) / "libfixture_ibt.so";

void run_command(const std::string& command) {
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
}

fs::path stripped_into(const fs::path& folder) {
  const fs::path out = folder / "libstripped.so";
  run_command(fmt::format("objcopy --strip-all {} {}", kWithSymbols.string(), out.string()));
  return out;
}

std::set<std::string> names(const AttributedModule& result) {
  std::set<std::string> all;
  for (const prof::AttributedFunction& function : result.functions) all.insert(function.name);
  return all;
}

AttributedModule attribute(const fs::path& module, Extent extent) {
  return prof::attribute_module({module.string(), build_id(module)}, addresses_of(extent),
                                {.debug_roots = {}});
}

}  // namespace

TEST_CASE("all addresses of a stripped function fold into one, named by where it starts") {
  const ScratchDirectory scratch;
  const fs::path stripped = stripped_into(scratch.path());
  const Extent extent = function_extent(kWithSymbols, "unnamed_when_stripped");
  const AttributedModule result = attribute(stripped, extent);
  CHECK(names(result) == std::set{fmt::format("libstripped.so+{:#x}", extent.start)});
  CHECK(result.functions[0].offset == extent.start);
  CHECK(result.frames[0].line == 0);
  CHECK(result.frames[0].file == prof::kNoFile);
}

TEST_CASE("an exported function of a stripped library keeps its name") {
  const ScratchDirectory scratch;
  const fs::path stripped = stripped_into(scratch.path());
  const AttributedModule result = attribute(stripped, function_extent(kWithSymbols, "exported_entry"));
  CHECK(names(result) == std::set<std::string>{"exported_entry"});
}

TEST_CASE("symbols name functions where only the debug information is stripped") {
  const ScratchDirectory scratch;
  const fs::path module = scratch.path() / "libsymbols.so";
  run_command(fmt::format("objcopy --strip-debug {} {}", kWithSymbols.string(), module.string()));
  const AttributedModule result = attribute(module, function_extent(kWithSymbols, "fixture4workEm"));
  CHECK(names(result) == std::set<std::string>{"fixture::work(unsigned long)"});
}

TEST_CASE("the compressed symbol table of .gnu_debugdata names functions") {
  const ScratchDirectory scratch;
  const fs::path stripped = stripped_into(scratch.path());
  const std::string symbols = (scratch.path() / "symbols").string();
  run_command(fmt::format("objcopy --only-keep-debug {0} {1} && objcopy --strip-debug {1} && xz {1}",
                          kWithSymbols.string(), symbols));
  run_command(fmt::format("objcopy --add-section .gnu_debugdata={}.xz {}", symbols, stripped.string()));
  const AttributedModule result = attribute(stripped, function_extent(kWithSymbols, "unnamed_when_stripped"));
  CHECK(names(result) == std::set<std::string>{"fixture::unnamed_when_stripped(unsigned long)"});
}

TEST_CASE("linkage stubs are named after what they call") {
  for (const fs::path& module : {kWithSymbols, kIbt}) {
    INFO(module);
    const std::vector<Extent> sections = section_extents(module, ".plt");
    REQUIRE_FALSE(sections.empty());
    for (const Extent& section : sections) {
      if (section.end - section.start < 32) continue;  // .plt.got: contains only code of the start files
      CHECK(names(attribute(module, section)).count("strtoul@plt") == 1);
    }
  }
}

TEST_CASE("the vDSO is named by this machine's own") {
  const unsigned long start = getauxval(AT_SYSINFO_EHDR);
  REQUIRE(start != 0);
  auto* image = reinterpret_cast<char*>(start);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image);
  Elf* const elf = elf_memory(image, header->e_shoff + size_t{header->e_shnum} * header->e_shentsize);
  REQUIRE(elf != nullptr);
  const std::vector<uint8_t> id = prof::build_id_of(elf);
  REQUIRE_FALSE(id.empty());
  uint64_t clock = 0;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr section;
    gelf_getshdr(scn, &section);
    if (section.sh_type != SHT_DYNSYM) continue;
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(elf_getdata(scn, nullptr), i, &symbol) != nullptr; ++i) {
      const std::string name = elf_strptr(elf, section.sh_link, symbol.st_name);
      if (name == "__vdso_clock_gettime") clock = symbol.st_value;
    }
  }
  elf_end(elf);
  REQUIRE(clock != 0);

  const std::vector<uint64_t> addresses = {clock, clock + 3};
  const AttributedModule own = prof::attribute_module({"[vdso]", id}, addresses);
  CHECK(own.warnings.empty());
  const std::set<std::string> own_names = names(own);
  REQUIRE(own_names.size() == 1);
  // The image exports the function under both names.
  CHECK(own_names.begin()->ends_with("clock_gettime"));

  std::vector<uint8_t> other = id;
  other[0] = static_cast<uint8_t>(~other[0]);
  const AttributedModule foreign = prof::attribute_module({"[vdso]", other}, addresses);
  CHECK(names(foreign) == std::set<std::string>{"[vdso]"});
  CHECK(foreign.warnings.size() == 1);
}

TEST_CASE("a module that has changed since the run gives no names and one warning") {
  std::vector<uint8_t> other = build_id(kWithSymbols);
  other[0] = static_cast<uint8_t>(~other[0]);
  const std::vector<uint64_t> addresses = addresses_of(function_extent(kWithSymbols, "fixture4workEm"));
  const AttributedModule result = prof::attribute_module({kWithSymbols.string(), other}, addresses);
  CHECK(names(result) == std::set<std::string>{"[libfixture.so]"});
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0] ==
        kWithSymbols.string() +
            ": has changed since the run (different build ID); its functions have no names");
  CHECK(result.first.size() == addresses.size() + 1);
}

TEST_CASE("a missing or foreign file gives no names and one warning") {
  const ScratchDirectory scratch;
  const fs::path text = scratch.path() / "text";
  std::ofstream(text) << "not an ELF file";
  for (const fs::path& path : {scratch.path() / "gone", text, scratch.path()}) {
    INFO(path);
    const AttributedModule result =
        prof::attribute_module({path.string(), {}}, std::vector<uint64_t>{0x10, 0x20});
    CHECK(result.warnings.size() == 1);
    REQUIRE(result.first == std::vector<uint32_t>{0, 1, 2});
    CHECK(result.functions[result.frames[1].function].name == fmt::format("[{}]", path.filename().string()));
  }
}

TEST_CASE("a file that cannot be opened is not called missing") {
  const ScratchDirectory scratch;
  const fs::path loop = scratch.path() / "loop";
  fs::create_symlink(loop, loop);  // root cannot open it either
  const AttributedModule result = prof::attribute_module({loop.string(), {}}, std::vector<uint64_t>{0x10});
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0] ==
        loop.string() + ": cannot be read: Too many levels of symbolic links; its functions have no names");
}

TEST_CASE("a module without build-id that is newer than the run may be another") {
  const ScratchDirectory scratch;
  const fs::path module = scratch.path() / "libanonymous.so";
  run_command(fmt::format("objcopy --remove-section=.note.gnu.build-id {} {}", kWithSymbols.string(),
                          module.string()));
  const std::vector<uint64_t> addresses = addresses_of(function_extent(kWithSymbols, "exported_entry"));
  constexpr uint64_t kModified = 1'700'000'000;
  const timespec times[2] = {{kModified, 0}, {kModified, 0}};
  REQUIRE(utimensat(AT_FDCWD, module.c_str(), times, 0) == 0);
  for (const uint64_t start : {kModified - 1, kModified + 1, uint64_t{0}}) {
    CAPTURE(start);
    const AttributedModule result =
        prof::attribute_module({module.string(), {}, start * 1'000'000'000}, addresses);
    CHECK(names(result) == std::set<std::string>{"exported_entry"});
    REQUIRE(result.warnings.size() == (start == kModified - 1 ? 1 : 0));
    if (!result.warnings.empty())
      CHECK(result.warnings[0] == module.string() +
                                      ": was modified after the run started and has no build ID; if "
                                      "it was rebuilt, names and lines are wrong");
  }
  // If the file has a build id, its time is irrelevant.
  CHECK(
      prof::attribute_module({kWithSymbols.string(), build_id(kWithSymbols), 1}, addresses).warnings.empty());
}

TEST_CASE("a module without build-id that is another file is not taken for the measured one") {
  const ScratchDirectory scratch;
  const fs::path module = scratch.path() / "libanonymous.so";
  run_command(fmt::format("objcopy --remove-section=.note.gnu.build-id {} {}", kWithSymbols.string(),
                          module.string()));
  const std::vector<uint64_t> addresses = addresses_of(function_extent(kWithSymbols, "exported_entry"));
  struct stat status {};
  REQUIRE(stat(module.c_str(), &status) == 0);
  const auto bytes = static_cast<uint64_t>(status.st_size);
  const auto attributed = [&](const hpcrun::FileIdentity& measured, const std::vector<uint8_t>& build = {}) {
    const fs::path& path = build.empty() ? module : kWithSymbols;
    return prof::attribute_module({path.string(), build, 0, measured}, addresses);
  };
  CHECK(attributed({status.st_dev, status.st_ino, bytes}).warnings.empty());
  CHECK(attributed({}).warnings.empty());

  const AttributedModule copy = attributed({status.st_dev, status.st_ino + 1, bytes});
  CHECK(names(copy) == std::set<std::string>{"exported_entry"});
  REQUIRE(copy.warnings.size() == 1);
  CHECK(copy.warnings[0].find("is not the measured file but has the same size, and no build ID") !=
        std::string::npos);

  const AttributedModule other = attributed({status.st_dev, status.st_ino, bytes - 1});
  CHECK(names(other) == std::set<std::string>{"[libanonymous.so]"});
  REQUIRE(other.warnings.size() == 1);
  CHECK(other.warnings[0].find("is not the measured file (different size, no build ID)") !=
        std::string::npos);

  // The build id takes precedence over numbers that differ between hosts.
  CHECK(attributed({1, 2, 3}, build_id(kWithSymbols)).warnings.empty());
}

TEST_CASE("a perf map is believed when it is a file of the measured user and as young as the process") {
  const ScratchDirectory scratch;
  const fs::path map = scratch.path() / "perf-1.map";
  std::ofstream(map) << "7f00 10 method\n";
  const std::vector<uint64_t> addresses = {0x7f00};
  const auto found = [&](const prof::PerfMap& perf_map) {
    const AttributedModule result = prof::attribute_jit(perf_map, addresses);
    return *names(result).begin() + (result.warnings.empty() ? "" : "; " + result.warnings[0]);
  };
  const auto refused = [](const fs::path& path, const char* why) {
    return fmt::format("[jit]; {}: {}; generated code has no names", path.string(), why);
  };
  struct stat status {};
  REQUIRE(stat(map.c_str(), &status) == 0);
  const auto written = static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000;
  CHECK(found({map, getuid(), written}) == "method");
  CHECK(found({map, getuid(), written + 3'000'000'000}) == refused(map, "older than the process"));
  if (getuid() == 0) {
    CHECK(found({map, 1234, written}) == "method");
    REQUIRE(chown(map.c_str(), 4321, 4321) == 0);
    CHECK(found({map, 4321, written}) == "method");
    CHECK(found({map, 1234, written}) == refused(map, "belongs to another user"));
  }
  const fs::path pipe = scratch.path() / "perf-2.map";
  REQUIRE(mkfifo(pipe.c_str(), 0644) == 0);  // opening it for reading would wait for a writer
  CHECK(found({pipe, getuid(), 0}) == refused(pipe, "not a regular file"));
}

TEST_CASE("a perf map names generated code, later lines before earlier ones") {
  const ScratchDirectory scratch;
  const fs::path map = scratch.path() / "perf-1.map";
  std::ofstream(map) << "7f00 10 first method\n"
                        "7f20 10 old method\n"
                        "not a line\n"
                        "0x7f40 0x8 long Work.method(long)\n"
                        "7f20 8 new method\n";
  const std::vector<uint64_t> addresses = {0x7eff, 0x7f00, 0x7f0f, 0x7f10, 0x7f27, 0x7f28, 0x7f47};
  const AttributedModule result = prof::attribute_jit({map, getuid(), 0}, addresses);
  std::vector<std::string> found;
  for (size_t i = 0; i < addresses.size(); ++i) {
    REQUIRE(result.chain(i).size() == 1);
    found.push_back(result.functions[result.chain(i)[0].function].name);
  }
  CHECK(found == std::vector<std::string>{"[jit]", "first method", "first method", "[jit]", "new method",
                                          "[jit]", "long Work.method(long)"});
  CHECK(names(prof::attribute_jit({scratch.path() / "none", getuid(), 0}, addresses)) ==
        std::set<std::string>{"[jit]"});
}

TEST_CASE("names are demangled from C++ and Rust") {
  CHECK(prof::demangle("_ZNSt6vectorIiSaIiEE9push_backERKi") ==
        "std::vector<int, std::allocator<int> >::push_back(int const&)");
  CHECK(prof::demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE") == "core::fmt::Formatter::pad");
  CHECK(prof::demangle(
            "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE") ==
        "<alloc::string::String as core::fmt::Display>::fmt");
  CHECK(prof::demangle("main") == "main");
  CHECK(prof::demangle("_Znot_mangled") == "_Znot_mangled");
}
