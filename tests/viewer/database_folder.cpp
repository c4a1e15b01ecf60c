#include "tests/viewer/database_folder.h"

#include "analysis/database/database.h"

namespace prof::test {

DatabaseFolder::DatabaseFolder(const Database& database) {
  write_database(database, path());
}

}  // namespace prof::test
