#pragma once
// Which frames of a row of the timeline are seen where there are fewer pixels than frames.

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/trace/columns.h"

namespace prof::viewer {

class RowFrames {
 public:
  // Of a row, from its first pixel on; keys are below that number.
  void begin(size_t keys);

  // Of a column of pixels that shows one frame alone, in which any ran for `running_ns`: the frames take
  // turns, so that neighbouring columns together have the colours in the frames' shares.
  uint32_t turn(std::span<const Share> shares, uint64_t running_ns);

  // What ran in a column, whose bar begins at the pixel `top`; and which of it was painted.
  void note(int x, int top, std::span<const Share> shares);
  void note_painted(uint32_t key) { frames_[key].is_painted = true; }

  struct Spot {
    int x, top;
    uint32_t key;
  };
  // A pixel for each frame that ran and was not painted anywhere in the row: where it ran longest. The
  // longest ones, where there are more than an eighth of the columns; one in a column at most.
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
