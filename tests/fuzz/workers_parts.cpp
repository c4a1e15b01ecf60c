// libFuzzer entry: arbitrary bytes as a part that one process of an analysis leaves for the others; the first
// byte selects the part. Either the part is refused, or the analysis continues with it, and results in a
// database that obeys the rules or cannot be read.

#include <cstdlib>
#include <iostream>

#include "analysis/database/database.h"
#include "analysis/pipeline/pipeline.h"
#include "tests/analysis/database/rules.h"
#include "tests/fuzz/workers_seed.h"

namespace {

// Unchanged, it must lead to a complete analysis.
const prof::test::WorkersSeed& seed() {
  static const prof::test::WorkersSeed seed;
  static const bool is_sound = [] {
    for (const std::string& part : seed.parts()) seed.resume_with(part, seed.text_of(part));
    return true;
  }();
  if (!is_sound) std::abort();
  return seed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const prof::test::WorkersSeed& whole = seed();
  if (size == 0) return 0;
  const std::string& part = whole.parts()[data[0] % whole.parts().size()];
  try {
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::string broken = prof::test::broken_rule(prof::read_database(whole.resume_with(part, text)));
    if (!broken.empty()) {
      std::cerr << part << ": broken rule: " << broken << '\n';
      std::abort();
    }
  } catch (const prof::WorkersError&) {
  } catch (const prof::AnalyzeError&) {
  } catch (const prof::DatabaseError&) {
  }
  return 0;
}
