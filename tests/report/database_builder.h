#pragma once
// Builds small databases by hand. Call paths with a cost at their leaf become contexts, values and summaries.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof::test {

// A frame of a call path: the function, and the line in it that calls the next one or has the cost.
struct At {
  std::string function;
  uint32_t line = 0;  // 0: unknown
  bool inlined = false;
};

class DatabaseBuilder {
 public:
  DatabaseBuilder() { database.title = "sum"; }

  // Functions lie in src/<name of the file>. A module without a file has no line information.
  void function(const std::string& name, const std::string& file, const std::string& module,
                uint32_t line = 0);
  uint32_t metric(const std::string& name, const std::string& unit);
  uint32_t thread(int32_t index, const std::string& name = "", int32_t rank = -1);
  // Adds a cost at the leaf of a path from an entry point, outermost frame first.
  void spend(uint32_t thread, const std::vector<At>& path, double cost, uint32_t metric = 0,
             const std::string& entry = "main thread");
  // Sorts the values of all threads and adds them up. Must be called last.
  Database build();

  Database database;

 private:
  uint32_t context(const Context& wanted);
  uint32_t function_index(const std::string& name);

  std::map<std::string, uint32_t> functions_, files_, modules_;
  std::vector<std::map<std::pair<uint32_t, uint32_t>, Values>> values_;  // per thread: (context, metric)
};

}  // namespace prof::test
