// make_fuzz_corpus DIR: seeds for fuzz_database in its input format.

#include <cstdio>
#include <cstring>

#include "analysis/database/database.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/files.h"

namespace {

using namespace prof;

void make_seed(const Database& database, const std::filesystem::path& seed) {
  const test::TemporaryDirectory directory;
  write_database(database, directory.path() / "database");
  std::string bytes;
  for (const char* name : {"meta.db", "profile.db", "trace.db", "run.json"}) {
    const std::string part = test::read_bytes(directory.path() / "database" / name);
    const auto size = static_cast<uint32_t>(part.size());
    char prefix[sizeof size];
    std::memcpy(prefix, &size, sizeof size);
    bytes.append(prefix, sizeof prefix).append(part);
  }
  test::write_bytes(seed, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_fuzz_corpus DIR\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  make_seed(test::known_database(), directory / "known");
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    make_seed(
        test::random_database(seed, {.contexts = 10 * seed, .profiles = seed, .metrics = 2, .records = 20}),
        directory / ("random-" + std::to_string(seed)));
  }
  return 0;
}
