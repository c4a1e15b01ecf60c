#include "analysis/pipeline/context_tree.h"

#include <algorithm>
#include <tuple>

namespace prof {
namespace {

constexpr const char* entry_name(bool main_thread) {
  return main_thread ? "main thread" : "application thread";
}

uint64_t mix(uint64_t value) {
  value *= 0x9e3779b97f4a7c15u;
  return value ^ (value >> 32);
}

}  // namespace

size_t ContextTree::KeyHash::operator()(const Key& key) const {
  const uint64_t first = (uint64_t{key.parent} << 32) | key.what;
  const uint64_t second = (uint64_t{key.line} << 8) | key.kind_and_relation;
  return mix(mix(first) ^ second);
}

ContextTree::Key ContextTree::key_of(const Context& context) {
  const bool is_line = context.kind == ContextKind::Line;
  return {context.parent, static_cast<uint32_t>(context.relation), is_line ? context.file : context.function,
          context.line};
}

uint32_t ContextTree::child(const Context& context) {
  const auto [at, added] = children_.try_emplace(key_of(context), static_cast<uint32_t>(contexts_.size()));
  if (added) contexts_.push_back(context);
  return at->second;
}

uint32_t ContextTree::entry(bool main_thread) {
  const std::string name = entry_name(main_thread);
  const auto [at, added] = entries_.try_emplace(name, static_cast<uint32_t>(contexts_.size()));
  if (added) {
    Context context;
    context.kind = ContextKind::Entry;
    context.relation = Relation::Enclosing;
    context.entry = name;
    contexts_.push_back(std::move(context));
  }
  return at->second;
}

uint32_t ContextTree::same_above(uint32_t parent, uint32_t function) const {
  if (!merge_recursion_) return kNone;
  for (uint32_t above = parent; above != kNone; above = contexts_[above].parent)
    if (contexts_[above].kind == ContextKind::Function && contexts_[above].function == function) return above;
  return kNone;
}

template <typename Child>
uint32_t ContextTree::follow(uint32_t parent, PlaceId place, const Child& child) const {
  for (const PlaceFrame& frame : places_.chain(place)) {
    if (frame.calls_itself && contexts_[parent].function == frame.function) continue;
    if (contexts_[parent].kind == ContextKind::Function && places_.is_passed_over(contexts_[parent].function))
      parent = contexts_[parent].parent;
    if (const uint32_t above = same_above(parent, frame.function); above != kNone) {
      parent = above;
    } else {
      Context function;
      function.parent = parent;
      function.kind = ContextKind::Function;
      function.relation = frame.inlined ? Relation::InlinedCall : Relation::Call;
      function.function = frame.function;
      parent = child(function);
    }
    if (frame.line == 0 || frame.file == kNone) continue;
    Context line;
    line.parent = parent;
    line.kind = ContextKind::Line;
    line.relation = Relation::Enclosing;
    line.file = frame.file;
    line.line = frame.line;
    parent = child(line);
  }
  return parent;
}

uint32_t ContextTree::extend(uint32_t parent, PlaceId place) {
  const auto [at, added] = extensions_.try_emplace((uint64_t{parent} << 32) | place, 0);
  if (!added) return at->second;
  return at->second = follow(parent, place, [this](const Context& context) { return child(context); });
}

uint32_t ContextTree::known_entry(bool main_thread) const {
  return entries_.at(entry_name(main_thread));
}

uint32_t ContextTree::known_extension(uint32_t parent, PlaceId place) const {
  const auto known = extensions_.find((uint64_t{parent} << 32) | place);
  if (known != extensions_.end()) return known->second;
  return follow(parent, place, [this](const Context& context) { return children_.at(key_of(context)); });
}

std::vector<uint32_t> ContextTree::add(const std::vector<Context>& contexts) {
  std::vector<uint32_t> here;
  here.reserve(contexts.size());
  for (Context context : contexts) {
    if (context.parent == kNone) {
      here.push_back(entry(context.entry == entry_name(true)));
    } else {
      context.parent = here[context.parent];
      here.push_back(child(context));
    }
  }
  return here;
}

void ContextTree::add(const ContextTree& other) {
  const std::vector<uint32_t> here = add(other.contexts_);
  for (const auto& [key, context] : other.extensions_)
    extensions_.try_emplace((uint64_t{here[key >> 32]} << 32) | (key & UINT32_MAX), here[context]);
}

// Sorts main threads first, then by function, or by file and line.
std::vector<uint32_t> ContextTree::sorted_order() const {
  std::vector<uint32_t> siblings(contexts_.size());
  for (uint32_t i = 0; i < siblings.size(); ++i) siblings[i] = i;
  // The parent's number plus one: roots come first, and siblings are adjacent.
  std::ranges::sort(siblings, {}, [&](uint32_t i) {
    const Context& context = contexts_[i];
    return std::tuple(context.parent + 1, context.entry != entry_name(true), context.kind, context.relation,
                      context.function, context.file, context.line);
  });
  std::vector<uint32_t> first(contexts_.size() + 2, 0);
  for (const Context& context : contexts_) ++first[context.parent + 1 + 1];
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];

  std::vector<uint32_t> order;
  std::vector<uint32_t> open(siblings.rend() - static_cast<ptrdiff_t>(first[1]), siblings.rend());
  while (!open.empty()) {
    const uint32_t context = open.back();
    open.pop_back();
    order.push_back(context);
    for (uint32_t i = first[context + 2]; i-- > first[context + 1];) open.push_back(siblings[i]);
  }
  return order;
}

void ContextTree::sort() {
  const std::vector<uint32_t> order = sorted_order();
  std::vector<uint32_t> number(order.size());
  std::vector<Context> sorted;
  sorted.reserve(order.size());
  for (const uint32_t context : order) {
    number[context] = static_cast<uint32_t>(sorted.size());
    Context& moved = sorted.emplace_back(std::move(contexts_[context]));
    if (moved.parent != kNone) moved.parent = number[moved.parent];
  }
  contexts_ = std::move(sorted);
  for (auto& [name, context] : entries_) context = number[context];
  children_.clear();
  for (uint32_t i = 0; i < contexts_.size(); ++i)
    if (contexts_[i].parent != kNone) children_.emplace(key_of(contexts_[i]), i);
  std::unordered_map<uint64_t, uint32_t> extensions;
  extensions.reserve(extensions_.size());
  for (const auto& [key, context] : extensions_)
    extensions.emplace((uint64_t{number[key >> 32]} << 32) | (key & UINT32_MAX), number[context]);
  extensions_ = std::move(extensions);
}

}  // namespace prof
