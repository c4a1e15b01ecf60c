#include "analysis/words/short_names.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "analysis/words/numbers.h"

namespace prof {
namespace {

constexpr std::string_view kDots = "...";
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kScope = "::";

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

// A pair of brackets: the positions of both, and the number of brackets around it.
struct Brackets {
  size_t open = 0, close = 0;
  size_t depth = 0;
};

// The brackets of a name, without those that belong to an operator: operator<, operator->, operator().
class NameParts {
 public:
  explicit NameParts(std::string_view name) : name_(name) {
    for (size_t at = 0; at < name.size();) {
      if (is_operator(at)) {
        at = end_of_operator(at);
      } else {
        bracket(at);
        ++at;
      }
    }
  }

  // Shortens the innermost template arguments that are not dots already.
  const Brackets* innermost_arguments() const {
    const Brackets* found = nullptr;
    for (const Brackets& brackets : pairs_)
      if (name_[brackets.open] == '<' && !is_short(brackets) && (!found || brackets.depth > found->depth))
        found = &brackets;
    return found;
  }

  // Shortens those of the function itself: the last ones outside other arguments that no scope follows.
  const Brackets* parameters() const {
    const Brackets* found = nullptr;
    for (const Brackets& brackets : pairs_)
      if (name_[brackets.open] == '(' && brackets.depth == 0 && brackets.open > 0 &&
          name_.substr(brackets.close + 1, kScope.size()) != kScope &&
          (!found || brackets.open > found->open))
        found = &brackets;
    return found;
  }

  // Returns the position after the first scope outside brackets; 0 if there is none.
  size_t behind_outermost_scope() const {
    for (size_t at = name_.find(kScope); at != std::string_view::npos; at = name_.find(kScope, at + 1))
      if (std::ranges::none_of(pairs_, [at](const Brackets& b) { return at > b.open && at < b.close; }))
        return at + kScope.size();
    return 0;
  }

  bool is_short(const Brackets& brackets) const {
    const std::string_view inside = name_.substr(brackets.open + 1, brackets.close - brackets.open - 1);
    return inside.size() <= kDots.size();
  }

 private:
  bool is_operator(size_t at) const {
    return name_.substr(at, kOperator.size()) == kOperator && (at == 0 || !is_of_word(name_[at - 1])) &&
           at + kOperator.size() < name_.size() && !is_of_word(name_[at + kOperator.size()]);
  }
  size_t end_of_operator(size_t at) const {
    at += kOperator.size();
    if (name_.substr(at, 2) == "()") return at + 2;
    return std::min(name_.find_first_not_of("<>=-!+*/%&|^~,", at), name_.size());
  }
  void bracket(size_t at) {
    const char c = name_[at];
    if (c == '(' || c == '<' || c == '{' || c == '[') open_.push_back(at);
    const char opened = c == ')' ? '(' : c == '>' ? '<' : c == '}' ? '{' : c == ']' ? '[' : '\0';
    if (opened == '\0' || open_.empty() || name_[open_.back()] != opened) return;
    const size_t open = open_.back();
    open_.pop_back();
    pairs_.push_back({open, at, open_.size()});
  }

  std::string_view name_;
  std::vector<size_t> open_;
  std::vector<Brackets> pairs_;
};

bool has_parameters_shortened(std::string& name) {
  const NameParts parts(name);
  const Brackets* found = parts.parameters();
  if (!found || parts.is_short(*found)) return false;
  name.replace(found->open + 1, found->close - found->open - 1, kDots);
  return true;
}

bool has_arguments_shortened(std::string& name) {
  const NameParts parts(name);
  const Brackets* found = parts.innermost_arguments();
  if (!found) return false;
  name.replace(found->open + 1, found->close - found->open - 1, kDots);
  return true;
}

// Removes the parameters that are dots together with the words after them (const).
bool has_parameters_dropped(std::string& name) {
  const NameParts parts(name);
  const Brackets* found = parts.parameters();
  if (!found) return false;
  name.erase(found->open);
  return true;
}

bool has_scope_dropped(std::string& name) {
  const size_t dots = name.starts_with("...::") ? kDots.size() + kScope.size() : 0;
  const size_t behind = NameParts(std::string_view(name).substr(dots)).behind_outermost_scope();
  if (behind == 0) return false;
  name = std::string(kDots) + std::string(kScope) + name.substr(dots + behind);
  return true;
}

}  // namespace

std::string shorten_name(std::string_view name, size_t columns) {
  std::string text(name);
  const auto fits = [&] { return columns_of(text) <= columns; };
  const auto shorten_by = [&](bool (*step)(std::string&)) {
    while (!fits() && step(text)) continue;
  };
  shorten_by(has_parameters_shortened);
  shorten_by(has_arguments_shortened);
  shorten_by(has_parameters_dropped);
  shorten_by(has_scope_dropped);
  return shorten_middle(text, columns);
}

}  // namespace prof
