#pragma once
// Builds small databases by hand: call paths with a cost at their leaf become contexts, values and summaries.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof::test {

// One frame of a call path: the function and the line in it at which it calls the next one or spends its
// cost.
struct At {
  std::string function;
  uint32_t line = 0;  // 0: no line is known
  bool inlined = false;
};

class DatabaseBuilder {
 public:
  DatabaseBuilder() { database.title = "sum"; }

  // Functions live in src/<name of the file>; a module without a file has no line information.
  void function(const std::string& name, const std::string& file, const std::string& module,
                uint32_t line = 0);
  uint32_t metric(const std::string& name, const std::string& unit);
  uint32_t thread(int32_t index, const std::string& name = "", int32_t rank = -1);
  // A cost in a metric at the leaf of a path that starts at an entry point, outermost frame first.
  void spend(uint32_t thread, const std::vector<At>& path, double cost, uint32_t metric = 0,
             const std::string& entry = "main thread");
  // Puts the values of all threads in order and sums them up; call it last.
  Database build();

  Database database;

 private:
  uint32_t context(const Context& wanted);
  uint32_t function_index(const std::string& name);

  std::map<std::string, uint32_t> functions_, files_, modules_;
  std::vector<std::map<std::pair<uint32_t, uint32_t>, Values>> values_;  // per thread: (context, metric)
};

}  // namespace prof::test
