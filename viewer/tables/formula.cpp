#include "viewer/tables/formula.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "analysis/words/nearest_name.h"

namespace prof::viewer {

// By recursive descent: sum = product {+|- product}, product = factor {*|/ factor}.
class FormulaParser {
 public:
  FormulaParser(Formula& formula, const std::vector<std::string>& metrics)
      : formula_(formula), text_(formula.text_), metrics_(metrics) {}

  void parse() {
    sum();
    if (at_ < text_.size()) fail("an operator or the end");
  }

 private:
  using Operation = Formula::Operation;
  static constexpr int kDeepest = 100;  // parentheses; a deeper formula is rejected

  [[noreturn]] void fail(const std::string& expected) const {
    throw FormulaError(fmt::format("at character {}{}: expected {}", at_ + 1,
                                   at_ < text_.size() ? fmt::format(" ('{}')", text_[at_]) : " (the end)",
                                   expected));
  }
  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char letter) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != letter) return false;
    ++at_;
    skip_spaces();
    return true;
  }
  void require(char letter) {
    if (!take(letter)) fail(fmt::format("'{}'", letter));
  }
  void add(Operation operation) { formula_.steps_.push_back({operation}); }

  void sum() {
    product();
    while (true) {
      const bool adds = take('+');
      if (!adds && !take('-')) return;
      product();
      add(adds ? Operation::Add : Operation::Subtract);
    }
  }
  void product() {
    factor();
    while (true) {
      const bool multiplies = take('*');
      if (!multiplies && !take('/')) return;
      factor();
      add(multiplies ? Operation::Multiply : Operation::Divide);
    }
  }
  void factor() {
    if (++depth_ > kDeepest) fail("fewer parentheses");
    if (take('-')) {
      factor();
      add(Operation::Negate);
    } else if (take('(')) {
      sum();
      require(')');
    } else {
      operand();
    }
    --depth_;
  }
  void operand() {
    skip_spaces();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(first)) || first == '.') return number();
    const size_t begin = at_;
    const std::string name = first == '[' ? bracketed() : word();
    if (name.empty()) fail("a number, a metric or '('");
    if ((name == "min" || name == "max") && take('(')) {
      sum();
      require(',');
      sum();
      require(')');
      return add(name == "min" ? Operation::Minimum : Operation::Maximum);
    }
    metric(name, begin);
  }
  void number() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failed != std::errc()) fail("a number");
    at_ += static_cast<size_t>(end - begin);
    skip_spaces();
    formula_.steps_.push_back({Operation::Number, value});
  }
  std::string word() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == ':'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::string bracketed() {
    const size_t begin = ++at_;
    at_ = std::min(text_.find(']', at_), text_.size());
    const std::string name = text_.substr(begin, at_ - begin);
    require(']');
    return name;
  }
  void metric(const std::string& name, size_t begin) {
    const auto known = std::find_if(metrics_.begin(), metrics_.end(), [&](const std::string& metric) {
      return strcasecmp(metric.c_str(), name.c_str()) == 0;
    });
    if (known == metrics_.end()) {
      at_ = begin;
      fail(fmt::format("a metric; {} is not one of {}{}", name, fmt::join(metrics_, ", "),
                       did_you_mean(name, metrics_)));
    }
    require('.');
    const size_t scope_begin = at_;
    const std::string scope = word();
    if (scope != "incl" && scope != "excl") {
      at_ = scope_begin;
      fail("incl or excl");
    }
    skip_spaces();
    formula_.steps_.push_back({scope == "incl" ? Operation::Inclusive : Operation::Exclusive, 0,
                               static_cast<size_t>(known - metrics_.begin())});
  }

  Formula& formula_;
  const std::string& text_;
  const std::vector<std::string>& metrics_;
  size_t at_ = 0;
  int depth_ = 0;
};

Formula::Formula(const std::string& text, const std::vector<std::string>& metrics) : text_(text) {
  FormulaParser(*this, metrics).parse();
}

double Formula::value(const std::function<Cost(size_t)>& cost) const {
  std::vector<double> stack;
  const auto pop = [&] {
    const double top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Step& step : steps_) {
    switch (step.operation) {
      case Operation::Number:
        stack.push_back(step.number);
        continue;
      case Operation::Inclusive:
        stack.push_back(cost(step.metric).inclusive);
        continue;
      case Operation::Exclusive:
        stack.push_back(cost(step.metric).exclusive);
        continue;
      case Operation::Negate:
        stack.back() = -stack.back();
        continue;
      default:
        break;
    }
    const double right = pop(), left = pop();
    if (step.operation == Operation::Add) stack.push_back(left + right);
    if (step.operation == Operation::Subtract) stack.push_back(left - right);
    if (step.operation == Operation::Multiply) stack.push_back(left * right);
    if (step.operation == Operation::Divide) stack.push_back(left / right);
    if (step.operation == Operation::Minimum) stack.push_back(std::min(left, right));
    if (step.operation == Operation::Maximum) stack.push_back(std::max(left, right));
  }
  return pop();
}

}  // namespace prof::viewer
