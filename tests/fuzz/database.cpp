// libFuzzer target. The input is meta.db, profile.db, trace.db and run.json, each behind its size in 4 bytes;
// corpora are made by make_fuzz_corpus.

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "analysis/database/database.h"
#include "tests/analysis/database/files.h"
#include "tests/analysis/database/rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const prof::test::TemporaryDirectory directory;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"meta.db", "profile.db", "trace.db", "run.json"}) {
    uint32_t bytes = 0;
    if (input.size() >= sizeof bytes) {
      std::memcpy(&bytes, input.data(), sizeof bytes);
      input.remove_prefix(sizeof bytes);
    }
    const std::string_view part = input.substr(0, bytes);
    input.remove_prefix(part.size());
    prof::test::write_bytes(directory.path() / name, std::string(part));
  }
  try {
    const std::string broken = prof::test::broken_rule(prof::read_database(directory.path()));
    if (!broken.empty()) {
      std::cerr << "broken rule: " << broken << '\n';
      std::abort();
    }
  } catch (const prof::DatabaseError&) {
  }
  return 0;
}
