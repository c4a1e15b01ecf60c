#pragma once
// The functions at each place in code, as indices into the database. A place is an address in a module, or
// any other entry of a call path.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prof {

using PlaceId = uint32_t;

// One function of a place's chain of inlined calls. Indices into the database's tables; kNone if unknown.
struct PlaceFrame {
  uint32_t function;
  uint32_t file;
  uint32_t line;
  bool inlined;
  bool calls_itself = false;  // through functions that are not distinguished; it is listed once
};

class PlaceTable {
 public:
  // Adds a place. Outermost function first; must not be empty.
  PlaceId add(std::span<const PlaceFrame> chain) {
    assert(!chain.empty());
    frames_.insert(frames_.end(), chain.begin(), chain.end());
    first_.push_back(static_cast<uint32_t>(frames_.size()));
    return static_cast<PlaceId>(size() - 1);
  }
  std::span<const PlaceFrame> chain(PlaceId place) const {
    assert(place < size());
    return std::span(frames_).subspan(first_[place], first_[place + 1] - first_[place]);
  }
  size_t size() const { return first_.size() - 1; }

  // Displays the function's callees as callees of its caller. The function keeps only its own cost.
  void pass_over(uint32_t function) { passed_over_.push_back(function); }
  bool is_passed_over(uint32_t function) const {
    return std::ranges::find(passed_over_, function) != passed_over_.end();
  }

 private:
  std::vector<PlaceFrame> frames_;
  std::vector<uint32_t> first_ = {0};
  std::vector<uint32_t> passed_over_;  // one in a run with such a module
};

}  // namespace prof
