#include "analysis/pipeline/context_tree.h"

namespace prof {
namespace {

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

uint32_t ContextTree::entry(bool main_thread) {
  const std::string name = main_thread ? "main thread" : "application thread";
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

uint32_t ContextTree::function(uint32_t parent, uint32_t function, Relation relation) {
  if (merge_recursion_) {
    for (uint32_t above = parent; above != kNone; above = contexts_[above].parent) {
      if (contexts_[above].kind == ContextKind::Function && contexts_[above].function == function)
        return above;
    }
  }
  const Key key{parent, static_cast<uint32_t>(relation), function, 0};
  const auto [at, added] = children_.try_emplace(key, static_cast<uint32_t>(contexts_.size()));
  if (added) {
    Context context;
    context.parent = parent;
    context.kind = ContextKind::Function;
    context.relation = relation;
    context.function = function;
    contexts_.push_back(std::move(context));
  }
  return at->second;
}

uint32_t ContextTree::line(uint32_t parent, uint32_t file, uint32_t line) {
  const Key key{parent, static_cast<uint32_t>(Relation::Enclosing), file, line};
  const auto [at, added] = children_.try_emplace(key, static_cast<uint32_t>(contexts_.size()));
  if (added) {
    Context context;
    context.parent = parent;
    context.kind = ContextKind::Line;
    context.relation = Relation::Enclosing;
    context.file = file;
    context.line = line;
    contexts_.push_back(std::move(context));
  }
  return at->second;
}

uint32_t ContextTree::extend(uint32_t parent, PlaceId place) {
  const auto [at, added] = extensions_.try_emplace((uint64_t{parent} << 32) | place, 0);
  if (!added) return at->second;
  uint32_t context = parent;
  for (const PlaceFrame& frame : places_.chain(place)) {
    context = function(context, frame.function, frame.inlined ? Relation::InlinedCall : Relation::Call);
    if (frame.line != 0 && frame.file != kNone) context = line(context, frame.file, frame.line);
  }
  return at->second = context;
}

}  // namespace prof
