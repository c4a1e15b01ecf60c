// Data addresses resolve to variables, fields and elements, as the fixture's compiler computed them.

#include "analysis/attribution/variables.h"

#include <dlfcn.h>
#include <link.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "tests/analysis/attribution/scratch_directory.h"
#include "tests/analysis/attribution/variables_fixture.h"

using namespace prof;

namespace {

std::string fixture(const std::string& name) {
  return FIXTURE_FOLDER "/lib" + name + ".so";
}

struct Library {
  void* handle;
  Truths truths;
  uint64_t base;

  explicit Library(const std::string& path) : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE(handle != nullptr);
    truths = reinterpret_cast<Truths (*)()>(dlsym(handle, "truths"))();
    link_map* map = nullptr;
    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    base = map->l_addr;
  }
  ~Library() { dlclose(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  uint64_t offset(const Truth& truth) const { return reinterpret_cast<uint64_t>(truth.address) - base; }
};

struct Opened {
  AttributionOptions options;
  ModuleFile file;
  std::unique_ptr<Variables> variables;

  explicit Opened(const std::string& path) {
    REQUIRE(file.open({path, {}}, options) == OpenFailure::None);
    variables = std::make_unique<Variables>(file);
  }
};

const Variable& named(const Variables& variables, const Library& library, const char* name) {
  for (size_t i = 0; i < library.truths.count; ++i) {
    const Truth& truth = library.truths.begin[i];
    if (std::string(truth.variable) != name) continue;
    const Variable* const variable = variables.find(library.offset(truth));
    REQUIRE(variable != nullptr);
    return *variable;
  }
  throw std::logic_error(name);
}

}  // namespace

TEST_CASE("every address has the variable and field that the compiler put there") {
  const char* const name = GENERATE("variables", "variables_dwarf4", "variables_split", "variables_clang");
  const std::string path = fixture(name);
  if (!std::filesystem::exists(path)) {
    WARN(name << " is not built here: no clang++-14");
    return;
  }
  INFO(name);
  const Library library(path);
  const Opened opened(path);
  for (size_t i = 0; i < library.truths.count; ++i) {
    const Truth& truth = library.truths.begin[i];
    INFO(truth.variable << truth.path);
    for (const size_t byte : {size_t{0}, truth.bytes - 1}) {
      const uint64_t address = library.offset(truth) + byte;
      const Variable* const variable = opened.variables->find(address);
      REQUIRE(variable != nullptr);
      CHECK(variable->name == truth.variable);
      CHECK(variable->line > 0);
      const uint64_t at = address - variable->address;
      const auto parts = opened.variables->parts(*variable, at, at + 1);
      REQUIRE(!parts.empty());
      CHECK(parts[0].path == truth.path);
      CHECK(parts[0].offset == at - byte);
      CHECK(parts[0].bytes == truth.bytes);
    }
  }
}

TEST_CASE("a line of an array is reported field by field, without its padding") {
  const Library library(fixture("variables"));
  const Opened opened(fixture("variables"));
  const Variable& stats = named(*opened.variables, library, "stats");
  CHECK(stats.type == "Statistics[4]");
  const auto parts = opened.variables->parts(stats, 0, 64);
  std::vector<std::string> paths;
  for (const DataPart& part : parts) paths.push_back(part.path + " " + part.type);
  const std::vector<std::string> expected{
      "[0].hits atomic<long unsigned int>",
      "[0].misses uint32_t",
      "[0].state uint8_t",
      "[0].where[0].x double",
      "[0].where[0].y double",
      "[0].where[1].x double",
      "[0].where[1].y double",
      "[0].sizes[0] short unsigned int",
      "[0].sizes[1] short unsigned int",
      "[0].sizes[2] short unsigned int",
      "[0].sizes[3] short unsigned int",
      "[0].either.word uint32_t",
      "[0].either.number float",
      "[0].low unsigned int",
      "[0].high unsigned int",
  };
  CHECK(paths == expected);
  CHECK(parts.front().line > 0);
  // The byte after `state` is padding.
  CHECK(opened.variables->parts(stats, 13, 14).empty());
}

TEST_CASE("a variable of a thread has no fixed place") {
  const Opened opened(fixture("variables"));
  for (uint64_t address = 0; address < 0x10000; ++address) {
    const Variable* const variable = opened.variables->find(address);
    if (variable != nullptr) CHECK(variable->name != "of_a_thread");
  }
}

TEST_CASE("without debug information symbols tell names and sizes") {
  const ScratchDirectory scratch;
  const std::string stripped = scratch.path() / "libvariables.so";
  REQUIRE(std::system(("strip -g -o " + stripped + " " + fixture("variables")).c_str()) == 0);
  const Library library(stripped);
  const Opened opened(stripped);
  const Variable& stats = named(*opened.variables, library, "stats");
  CHECK(stats.name == "stats");
  CHECK(stats.type.empty());
  CHECK(stats.line == 0);
  CHECK(stats.bytes % 4 == 0);
  const auto parts = opened.variables->parts(stats, 8, 16);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].path.empty());
  CHECK(parts[0].bytes == stats.bytes);
}

TEST_CASE("outside of all variables there is none") {
  const Opened opened(fixture("variables"));
  CHECK(opened.variables->size() > 5);
  CHECK(opened.variables->find(0) == nullptr);
  CHECK(opened.variables->find(UINT64_MAX) == nullptr);
}
