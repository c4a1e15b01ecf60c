#pragma once
// The calling context tree of all threads; equal contexts are stored once. pipeline.h describes its shape.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/pipeline/place_table.h"

namespace prof {

class ContextTree {
 public:
  ContextTree(const PlaceTable& places, std::vector<Context>& contexts, bool merge_recursion)
      : places_(places), contexts_(contexts), merge_recursion_(merge_recursion) {}

  // Returns the root of the stacks of a process's first thread, or of any other thread.
  uint32_t entry(bool main_thread);

  // Returns the innermost context of a place that was called in `parent`: a Line, or a Function if no line is
  // known. Equal arguments give the same context.
  uint32_t extend(uint32_t parent, PlaceId place);

  // Adds the contexts of another tree over the same places.
  void add(const ContextTree& other);
  // Adds contexts, parents before their children. Returns the index of each in this tree.
  std::vector<uint32_t> add(const std::vector<Context>& contexts);

  // Sorts contexts by their contents alone, callers before callees.
  void sort();

  // Return what entry() and extend() returned for the same arguments, also if another tree received them and
  // was added, or if sort() ran since. Safe to call from several threads at once.
  uint32_t known_entry(bool main_thread) const;
  uint32_t known_extension(uint32_t parent, PlaceId place) const;

 private:
  // Distinguishes a context from its siblings: a function with its relation, or a file and a line.
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

  static Key key_of(const Context& context);
  uint32_t child(const Context& context);
  // Returns the context of a place called in `parent`; child() returns that of each step.
  template <typename Child>
  uint32_t follow(uint32_t parent, PlaceId place, const Child& child) const;
  // If recursion is merged: returns the function's context above `parent`, or kNone.
  uint32_t same_above(uint32_t parent, uint32_t function) const;
  std::vector<uint32_t> sorted_order() const;

  const PlaceTable& places_;
  std::vector<Context>& contexts_;
  bool merge_recursion_;
  std::map<std::string, uint32_t> entries_;
  std::unordered_map<Key, uint32_t, KeyHash> children_;
  std::unordered_map<uint64_t, uint32_t> extensions_;  // by parent context and place
};

}  // namespace prof
