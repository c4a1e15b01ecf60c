#pragma once
// The one context tree of all threads, which share what is there already. pipeline.h says what it looks like.

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

  // Where the stacks of a process's first thread, or of another one, begin.
  uint32_t entry(bool main_thread);

  // The context of a place that was called in `parent`: the innermost one, a Line, or a Function where no
  // line is known. An earlier call with the same arguments returns the same.
  uint32_t extend(uint32_t parent, PlaceId place);

  // Takes in what another tree over the same places has.
  void add(const ContextTree& other);
  // Takes in a tree's contexts, of which parents come before their children; returns which they are here.
  std::vector<uint32_t> add(const std::vector<Context>& contexts);

  // Gives contexts an order that depends on what they are alone: callers first, what they call behind them.
  void sort();

  // What entry() and extend() returned, or would have if this tree had been asked for what was added to it,
  // after it was sorted. Callable by several threads at once.
  uint32_t known_entry(bool main_thread) const;
  uint32_t known_extension(uint32_t parent, PlaceId place) const;

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

  static Key key_of(const Context& context);
  uint32_t child(const Context& context);
  // The context of a place called in `parent`; child() gives the one of each step there.
  template <typename Child>
  uint32_t follow(uint32_t parent, PlaceId place, const Child& child) const;
  // Where recursion is merged: the function's context above, or kNone.
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
