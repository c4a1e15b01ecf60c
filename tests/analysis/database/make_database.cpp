// make_database DIR [idle]: writes the database with known contents, or one whose main thread has no samples.

#include <cstdio>
#include <vector>

#include "analysis/database/database.h"
#include "analysis/database/summaries.h"
#include "tests/analysis/database/databases.h"

namespace {

void drop_values_of_main_thread(prof::Database& database) {
  std::vector<bool> is_main(database.contexts.size());
  for (size_t i = 0; i < is_main.size(); ++i) {
    const prof::Context& context = database.contexts[i];
    is_main[i] = context.parent == prof::kNone ? context.entry == "main thread" : is_main[context.parent];
  }
  for (prof::Profile& profile : database.profiles)
    std::erase_if(profile.values, [&](const prof::ProfileValue& value) { return is_main[value.context]; });
  database.summaries = prof::summarize(database);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: make_database DIR [idle]\n");
    return 2;
  }
  prof::Database database = prof::test::known_database();
  if (argc == 3) drop_values_of_main_thread(database);
  prof::write_database(database, argv[1]);
  return 0;
}
