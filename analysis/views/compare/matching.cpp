#include "analysis/views/compare/matching.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/words/numbers.h"

namespace prof {
// "f.constprop.0" and "f(int) [clone .cold]" are f.
std::string_view without_clone(std::string_view name) {
  if (const size_t clone = name.find(" [clone "); clone != std::string_view::npos)
    name = name.substr(0, clone);
  for (const std::string_view made : {".constprop.", ".isra.", ".part.", ".cold", ".llvm.", ".lto_priv."})
    if (const size_t at = name.find(made); at != std::string_view::npos && at > 0) name = name.substr(0, at);
  return name;
}

namespace {

// "work(int)" matches "work(int, bool)" to which a parameter was added; operator() keeps its name.
std::string_view without_arguments(std::string_view name) {
  const size_t qualifier = name.rfind(')');
  if (qualifier == std::string_view::npos) return name;
  int depth = 0;
  for (size_t at = qualifier + 1; at-- > 0;) {
    depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    if (depth == 0) return at == 0 || name.substr(0, at).ends_with("operator") ? name : name.substr(0, at);
  }
  return name;
}

// Matches the keys of one side with entries of the other side. Each entry is matched once.
class Pairs {
 public:
  Pairs(size_t first, size_t second) : is_taken_(first, false), match_(second, kNone) {}

  // Matches the remaining entries with equal keys, in the order in which they occur.
  template <class FirstKey, class SecondKey>
  void match(const FirstKey& first_key, const SecondKey& second_key) {
    std::unordered_map<std::string, std::vector<uint32_t>> by_key;
    for (uint32_t i = static_cast<uint32_t>(is_taken_.size()); i-- > 0;)
      if (!is_taken_[i]) by_key[first_key(i)].push_back(i);
    for (uint32_t i = 0; i < match_.size(); ++i) {
      if (match_[i] != kNone) continue;
      const auto at = by_key.find(second_key(i));
      if (at == by_key.end() || at->second.empty()) continue;
      match_[i] = at->second.back();
      is_taken_[match_[i]] = true;
      at->second.pop_back();
    }
  }
  bool is_taken(uint32_t first) const { return is_taken_[first]; }
  std::vector<uint32_t>& of_second() { return match_; }

 private:
  std::vector<bool> is_taken_;
  std::vector<uint32_t> match_;
};

// A base name identifies a file only if no other remaining file has it.
template <class PathOf>
std::string unique_base(const std::map<std::string, uint32_t>& counts, const PathOf& path_of, uint32_t i,
                        const char* side) {
  const std::string name = base_name(path_of(i));
  return counts.at(name) == 1 ? name : side + std::to_string(i);
}

template <class Thing>
std::vector<uint32_t> match_paths(const std::vector<Thing>& first, const std::vector<Thing>& second) {
  Pairs pairs(first.size(), second.size());
  const auto path_of_first = [&](uint32_t i) -> const std::string& { return first[i].path; };
  const auto path_of_second = [&](uint32_t i) -> const std::string& { return second[i].path; };
  pairs.match(path_of_first, path_of_second);
  std::map<std::string, uint32_t> in_first, in_second;
  for (uint32_t i = 0; i < first.size(); ++i) in_first[base_name(first[i].path)] += pairs.is_taken(i) ? 0 : 1;
  for (uint32_t i = 0; i < second.size(); ++i)
    in_second[base_name(second[i].path)] += pairs.of_second()[i] == kNone ? 1 : 0;
  pairs.match([&](uint32_t i) { return unique_base(in_first, path_of_first, i, "/1/"); },
              [&](uint32_t i) { return unique_base(in_second, path_of_second, i, "/2/"); });
  return std::move(pairs.of_second());
}

// Matches functions by names, the most exact ones first.
class FunctionNames {
 public:
  explicit FunctionNames(const Database& database) : database_(database), order_(database.functions.size()) {
    for (uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      const Function &x = database.functions[a], &y = database.functions[b];
      return std::tie(x.line, x.offset) < std::tie(y.line, y.offset);
    });
  }
  // Numbers functions in the order of their lines.
  uint32_t function(uint32_t i) const { return order_[i]; }
  std::string name(uint32_t i) const {
    const Function& function = database_.functions[order_[i]];
    return function.name.empty() ? module(i) + "+" + std::to_string(function.offset) : function.name;
  }
  std::string module(uint32_t i) const {
    const uint32_t module = database_.functions[order_[i]].module;
    return module < database_.modules.size() ? base_name(database_.modules[module].path) : std::string();
  }
  std::string file(uint32_t i) const {
    const uint32_t file = database_.functions[order_[i]].file;
    return file < database_.files.size() ? base_name(database_.files[file].path) : std::string();
  }

 private:
  const Database& database_;
  std::vector<uint32_t> order_;
};

std::vector<uint32_t> match_functions(const Database& first, const Database& second) {
  const FunctionNames a(first), b(second);
  Pairs pairs(first.functions.size(), second.functions.size());
  const auto by = [&](const auto& key) {
    pairs.match([&](uint32_t i) { return key(a, i); }, [&](uint32_t i) { return key(b, i); });
  };
  constexpr char kBetween = '\0';
  by([](const FunctionNames& f, uint32_t i) {
    return f.name(i) + kBetween + f.module(i) + kBetween + f.file(i);
  });
  by([](const FunctionNames& f, uint32_t i) { return f.name(i) + kBetween + f.module(i); });
  by([](const FunctionNames& f, uint32_t i) { return f.name(i) + kBetween + f.file(i); });
  by([](const FunctionNames& f, uint32_t i) { return f.name(i); });
  by([](const FunctionNames& f, uint32_t i) {
    return std::string(without_clone(f.name(i))) + kBetween + f.module(i);
  });
  by([](const FunctionNames& f, uint32_t i) {
    return std::string(without_arguments(without_clone(f.name(i)))) + kBetween + f.module(i) + kBetween +
           f.file(i);
  });
  std::vector<uint32_t> matches(second.functions.size(), kNone);
  for (uint32_t i = 0; i < matches.size(); ++i)
    if (const uint32_t match = pairs.of_second()[i]; match != kNone)
      matches[b.function(i)] = a.function(match);
  return matches;
}

// Adds the entries without a match to those of the first run.
template <class Thing, class Adapt>
void add_unmatched(std::vector<Thing>& all, const std::vector<Thing>& second, std::vector<uint32_t>& matches,
                   const Adapt& adapt) {
  for (uint32_t i = 0; i < second.size(); ++i) {
    if (matches[i] != kNone) continue;
    matches[i] = static_cast<uint32_t>(all.size());
    all.push_back(second[i]);
    adapt(all.back());
  }
}

// Finds contexts by their contents and parent. An open hash table, like that of the call tree.
class ContextIndex {
 public:
  ContextIndex(std::vector<Context>& contexts, size_t most) : contexts_(contexts) {
    size_t slots = 1024;
    while (slots < 2 * most) slots *= 2;
    slots_.assign(slots, kNone);
  }

  // Does nothing if the context exists.
  void add(uint32_t id) {
    uint32_t& slot = slot_of(contexts_[id]);
    if (slot == kNone) slot = id;
  }
  uint32_t find_or_add(const Context& context) {
    uint32_t& slot = slot_of(context);
    if (slot == kNone) {
      slot = static_cast<uint32_t>(contexts_.size());
      contexts_.push_back(context);
    }
    return slot;
  }

 private:
  uint32_t& slot_of(const Context& context) {
    size_t slot = hash(context) & (slots_.size() - 1);
    while (slots_[slot] != kNone && !is_same(contexts_[slots_[slot]], context))
      slot = (slot + 1) & (slots_.size() - 1);
    return slots_[slot];
  }
  // Matches a function that is inlined in one run and called in the other.
  static bool is_inside(const Context& c) {
    return c.relation == Relation::Enclosing && c.kind != ContextKind::Function;
  }
  static bool is_same(const Context& a, const Context& b) {
    return a.parent == b.parent && a.kind == b.kind && a.function == b.function && a.line == b.line &&
           a.file == b.file && a.offset == b.offset && a.module == b.module && is_inside(a) == is_inside(b) &&
           a.entry == b.entry;
  }
  static size_t hash(const Context& c) {
    uint64_t h = (static_cast<uint64_t>(c.parent) << 32 | c.function) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 29) ^ c.line ^ static_cast<uint64_t>(c.file) << 32) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 32) ^ c.offset ^ static_cast<uint64_t>(c.kind) << 60) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
  }

  std::vector<Context>& contexts_;
  std::vector<uint32_t> slots_;
};

class Matcher {
 public:
  Matcher(const Database& first, const Database& second, const MatchProgress& progress)
      : first_(first), second_(second), progress_(progress), result_(std::make_unique<MatchedDatabases>()) {}

  std::unique_ptr<const MatchedDatabases> match() {
    Database& all = result_->database;
    all.title = first_.title;
    all.description = first_.description;
    all.run = first_.run;
    all.modules = first_.modules;
    all.files = first_.files;
    all.functions = first_.functions;
    match_metrics();
    modules_ = match_paths(first_.modules, second_.modules);
    add_unmatched(all.modules, second_.modules, modules_, [](LoadModule&) {});
    files_ = match_paths(first_.files, second_.files);
    add_unmatched(all.files, second_.files, files_, [](SourceFile&) {});
    result_->files.assign(all.files.size(), kNone);
    for (uint32_t f = 0; f < files_.size(); ++f) result_->files[files_[f]] = f;
    functions_ = match_functions(first_, second_);
    add_unmatched(all.functions, second_.functions, functions_, [&](Function& function) {
      function.module = in_all(modules_, function.module);
      function.file = in_all(files_, function.file);
    });
    constexpr double kNames = 0.2, kFirst = 0.5;  // of the time, for a million contexts
    if (!report(kNames) || !match_contexts(kNames, kFirst)) return nullptr;
    all.profiles = first_.profiles;
    all.stored = first_.stored;
    return std::move(result_);
  }

 private:
  static uint32_t in_all(const std::vector<uint32_t>& matches, uint32_t index) {
    return index < matches.size() ? matches[index] : kNone;
  }
  bool report(double share) const { return !progress_ || progress_(share); }

  void match_metrics() {
    std::vector<Metric>& all = result_->database.metrics;
    all = first_.metrics;
    for (const Metric& metric : second_.metrics) {
      const auto at = std::find_if(all.begin(), all.end(), [&](const Metric& other) {
        return other.name == metric.name && other.unit == metric.unit;
      });
      result_->metrics.push_back(static_cast<uint32_t>(at - all.begin()));
      if (at == all.end()) all.push_back(metric);
    }
    result_->metric_count = all.size();
    all.reserve(2 * all.size());
    std::copy_n(all.begin(), result_->metric_count, std::back_inserter(all));
  }

  bool match_contexts(double begin, double middle) {
    std::vector<Context>& all = result_->database.contexts;
    all.reserve(first_.contexts.size() + second_.contexts.size() / 8);
    all = first_.contexts;
    ContextIndex index(all, first_.contexts.size() + second_.contexts.size());
    for (uint32_t c = 0; c < first_.contexts.size(); ++c) {
      index.add(c);
      if (!report_step(c, first_.contexts.size(), begin, middle)) return false;
    }
    result_->contexts.reserve(second_.contexts.size());
    for (uint32_t c = 0; c < second_.contexts.size(); ++c) {
      Context context = second_.contexts[c];
      context.parent = in_all(result_->contexts, context.parent);
      context.function = in_all(functions_, context.function);
      context.file = in_all(files_, context.file);
      context.module = in_all(modules_, context.module);
      result_->contexts.push_back(index.find_or_add(context));
      if (!report_step(c, second_.contexts.size(), middle, 1)) return false;
    }
    return true;
  }
  bool report_step(uint32_t done, size_t of, double begin, double end) const {
    constexpr uint32_t kStep = 1 << 16;
    return done % kStep != 0 || report(begin + (end - begin) * done / static_cast<double>(of));
  }

  const Database& first_;
  const Database& second_;
  const MatchProgress& progress_;
  std::unique_ptr<MatchedDatabases> result_;
  std::vector<uint32_t> modules_, files_, functions_;  // of the second, in all
};

}  // namespace

std::unique_ptr<const MatchedDatabases> match_databases(const Database& first, const Database& second,
                                                        const MatchProgress& progress) {
  return Matcher(first, second, progress).match();
}

}  // namespace prof
