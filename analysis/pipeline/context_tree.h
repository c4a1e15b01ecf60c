#pragma once
// The one context tree of all threads. A thread's nodes are added parents first and share what is there.

#include <unordered_map>

#include "analysis/pipeline/places.h"

namespace prof {

class ContextTree {
 public:
  ContextTree(const Places& places, std::vector<Context>& contexts, bool merge_recursion)
      : places_(places), contexts_(contexts), merge_recursion_(merge_recursion) {}

  // The context of each node of a thread, whose root's is the thread's entry point. A node's context is the
  // innermost one of its place: a Line, or a Function where no line is known.
  std::vector<uint32_t> add(size_t measurement, const MeasuredThread& thread);

 private:
  // What tells a context from its siblings: a function with its relation, or a file and a line.
  struct Key {
    uint32_t parent;
    uint32_t kind_and_relation;
    uint32_t what;  // function or file
    uint32_t line;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  uint32_t entry(const std::string& name);
  uint32_t extend(uint32_t parent, PlaceId place);
  uint32_t function(uint32_t parent, uint32_t function, Relation relation);
  uint32_t line(uint32_t parent, uint32_t file, uint32_t line);

  const Places& places_;
  std::vector<Context>& contexts_;
  bool merge_recursion_;
  std::map<std::string, uint32_t> entries_;
  std::unordered_map<Key, uint32_t, KeyHash> children_;
  std::unordered_map<uint64_t, uint32_t> extensions_;  // by parent context and place
};

}  // namespace prof
