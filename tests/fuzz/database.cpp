// libFuzzer entry: arbitrary bytes as a database (database_files.h). If the reader accepts it, it must obey
// the rules of model.h, and be the same whether its values are read at once or on demand.

#include <cstdlib>
#include <iostream>

#include "analysis/database/database.h"
#include "analysis/database/instruction_costs.h"
#include "tests/analysis/database/both_readings.h"
#include "tests/analysis/database/rules.h"
#include "tests/fuzz/database_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const prof::test::TemporaryDirectory directory;
  prof::test::unpack_database({reinterpret_cast<const char*>(data), size}, directory.path());
  if (const std::string differs = prof::test::difference_of_readings(directory.path()); !differs.empty()) {
    std::cerr << "read in two ways, differs: " << differs << '\n';
    std::abort();
  }
  try {
    const prof::Database database = prof::read_database(directory.path());
    const std::string broken = prof::test::broken_rule(database);
    if (!broken.empty()) {
      std::cerr << "broken rule: " << broken << '\n';
      std::abort();
    }
    const auto costs = prof::read_instruction_costs(directory.path(), database, 0, 0, UINT64_MAX);
    for (const prof::InstructionCost& cost : costs.value_or(std::vector<prof::InstructionCost>()))
      if (cost.metric >= database.metrics.size()) std::abort();
  } catch (const prof::DatabaseError&) {
  }
  return 0;
}
