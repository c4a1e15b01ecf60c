#pragma once
// Derived metrics: a formula over the metrics of one row, as "MISSES.excl / max(CYCLES.excl, 1) * 1000".
// Numbers, + - * / and parentheses, min(a, b) and max(a, b), and the metrics by name with .incl or .excl;
// a name with other characters than letters, digits, _ and : stands in [brackets]: "[L1-misses].excl".

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/views/call_tree.h"

namespace prof::viewer {

class FormulaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Formula {
 public:
  // Throws FormulaError: one line that names the place in the text and what is expected there.
  Formula(const std::string& text, const std::vector<std::string>& metrics);

  const std::string& text() const { return text_; }
  // Not a number where it divides nothing by nothing.
  double value(const std::function<Cost(size_t metric)>& cost) const;

 private:
  friend class FormulaParser;
  enum class Operation : uint8_t {
    Number,
    Inclusive,
    Exclusive,
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    Minimum,
    Maximum
  };
  struct Step {
    Operation operation;
    double number = 0;
    size_t metric = 0;
  };
  std::string text_;
  std::vector<Step> steps_;  // operands before their operator
};

}  // namespace prof::viewer
