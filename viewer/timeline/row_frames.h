#pragma once
// Chooses which frames of a timeline row are visible if there are fewer pixels than frames.

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/trace/columns.h"

namespace prof::viewer {

class RowFrames {
 public:
  // Begins a row, at its first pixel; keys are below `keys`.
  void begin(size_t keys);

  // Chooses the frame for a column of pixels that shows only one, in which frames ran for `running_ns`.
  // Frames alternate, so neighbouring columns together show their colours in proportion.
  uint32_t turn(std::span<const Share> shares, uint64_t running_ns);

  // Records what ran in a column whose bar starts at pixel `top`, and which frame was painted there.
  void note(int x, int top, std::span<const Share> shares);
  void note_painted(uint32_t key) { frames_[key].is_painted = true; }

  struct Spot {
    int x, top;
    uint32_t key;
  };
  // Returns one pixel for each frame that ran but was not painted in the row, at the position at which it ran
  // longest. If these are more than an eighth of the columns, only the longest ones; at most one per column.
  std::vector<Spot> unpainted(int columns);

 private:
  struct Of {
    double owed = 0;  // columns
    uint64_t all_ns = 0, most_ns = 0;
    int x = 0, top = 0;  // where it ran longest
    bool is_painted = false;
  };
  Of& of(uint32_t key);

  std::vector<Of> frames_;       // by key
  std::vector<uint32_t> there_;  // keys that ran
  std::vector<bool> is_there_;
};

}  // namespace prof::viewer
