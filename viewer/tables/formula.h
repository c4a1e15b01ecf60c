#pragma once
// Derived metrics: a formula over the metrics of one row, such as "MISSES.excl / max(CYCLES.excl, 1) * 1000".
// A formula consists of numbers, + - * /, parentheses, min(a, b), max(a, b), and metric names with .incl or
// .excl. A name with characters other than letters, digits, _ and : is written in [brackets]:
// "[L1-misses].excl".

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof::viewer {

class FormulaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Formula {
 public:
  // Throws FormulaError: one line with the position in the text and what is expected there.
  Formula(const std::string& text, const std::vector<std::string>& metrics);

  const std::string& text() const { return text_; }
  // Returns NaN for 0 / 0.
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
