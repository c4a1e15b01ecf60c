// make_database DIR: writes the database with known contents.

#include <cstdio>

#include "analysis/database/database.h"
#include "tests/analysis/database/databases.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_database DIR\n");
    return 2;
  }
  prof::write_database(prof::test::known_database(), argv[1]);
  return 0;
}
