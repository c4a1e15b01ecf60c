// Damaged databases: every mutation results in a DatabaseError or in a database that obeys the rules, and
// never in a crash.

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>

#include "analysis/database/database.h"
#include "tests/analysis/database/both_readings.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/files.h"
#include "tests/analysis/database/rules.h"
#include "tests/long.h"

using namespace prof;
using namespace prof::test;

namespace {

const int kMutations = may_take_long() ? 20'000 : 5'000;

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  void mutate(std::string& bytes) {
    for (size_t i = 1 + below(3); i > 0; --i) mutate_once(bytes);
  }
  size_t below(size_t limit) { return random_() % limit; }

 private:
  void mutate_once(std::string& bytes) {
    if (bytes.empty()) return;
    const size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(random_());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        put_word(bytes, at & ~size_t{7}, interesting(bytes));
        break;
      case 3:
        put_word(bytes, at & ~size_t{3}, interesting(bytes));
        break;
      case 4:
        copy_word(bytes, at & ~size_t{7}, below(bytes.size()) & ~size_t{7});
        break;
      case 5:
        bytes.resize(below(8) == 0 ? at : bytes.size());
        break;
    }
  }

  // Returns values at which arithmetic with offsets and counts fails.
  uint64_t interesting(const std::string& bytes) {
    const uint64_t values[] = {0,
                               1,
                               bytes.size(),
                               bytes.size() - 1,
                               UINT64_MAX,
                               UINT64_MAX / 10,
                               UINT64_MAX / 12 + 1,
                               uint64_t{1} << 63,
                               UINT32_MAX,
                               below(bytes.size()),
                               UINT64_MAX - below(256),
                               0x7ff0000000000000};
    return values[below(std::size(values))];
  }
  static void put_word(std::string& bytes, size_t at, uint64_t word) {
    if (at + sizeof word <= bytes.size()) std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  static void copy_word(std::string& bytes, size_t to, size_t from) {
    if (to + 8 <= bytes.size() && from + 8 <= bytes.size())
      std::memmove(bytes.data() + to, bytes.data() + from, 8);
  }

  std::mt19937_64 random_;
};

struct Outcomes {
  int errors = 0, databases = 0;
};

Outcomes read_mutations(const Database& database, uint32_t seed, int count) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "database";
  write_database(database, path);
  const char* const names[] = {"meta.db", "profile.db", "trace.db", "run.json", "cct.db"};
  std::map<std::string, std::string> originals;
  for (const char* name : names) originals[name] = read_bytes(path / name);

  Mutator mutator(seed);
  Outcomes outcomes;
  for (int i = 0; i < count; ++i) {
    // meta.db and profile.db contain most of the structure.
    const std::string name = names[std::min<size_t>(mutator.below(16) / 4, 3) + (mutator.below(32) == 0)];
    std::string bytes = originals[name];
    mutator.mutate(bytes);
    write_bytes(path / name, bytes);
    try {
      const std::string broken = broken_rule(read_database(path));
      INFO("mutation " << i << " of " << name);
      CHECK(broken == "");
      ++outcomes.databases;
    } catch (const DatabaseError& error) {
      if (std::string(error.what()).find('\n') != std::string::npos)
        FAIL_CHECK("more than one line: " << error.what());
      ++outcomes.errors;
    }
    if (const std::string differs = difference_of_readings(path); !differs.empty())
      FAIL_CHECK("mutation " << i << " of " << name << ", read in two ways: " << differs);
    write_bytes(path / name, originals[name]);
  }
  return outcomes;
}

}  // namespace

TEST_CASE("A damaged database is refused or consistent") {
  const Outcomes known = read_mutations(known_database(), 1, kMutations / 2);
  const Outcomes random = read_mutations(
      random_database(11, {.contexts = 30, .profiles = 3, .metrics = 2, .records = 40}), 2, kMutations / 2);
  CHECK(known.errors + known.databases + random.errors + random.databases == kMutations);
  // Both must occur, or the mutations are too weak or too strong to test anything.
  CHECK(known.errors + random.errors > kMutations / 10);
  CHECK(known.databases + random.databases > kMutations / 10);
}
