#include "viewer/timeline/row_frames.h"

#include <algorithm>

namespace prof::viewer {

void RowFrames::begin(size_t keys) {
  for (const uint32_t key : there_) {
    frames_[key] = {};
    is_there_[key] = false;
  }
  there_.clear();
  frames_.resize(keys);
  is_there_.resize(keys);
}

RowFrames::Of& RowFrames::of(uint32_t key) {
  if (!is_there_[key]) {
    is_there_[key] = true;
    there_.push_back(key);
  }
  return frames_[key];
}

uint32_t RowFrames::turn(std::span<const Share> shares, uint64_t running_ns) {
  uint32_t chosen = kNone;
  for (const Share& share : shares) {
    if (share.key == kNone || share.ns == 0) continue;
    Of& frame = of(share.key);
    frame.owed += static_cast<double>(share.ns) / static_cast<double>(running_ns);
    if (chosen == kNone || frame.owed > frames_[chosen].owed) chosen = share.key;
  }
  if (chosen != kNone) frames_[chosen].owed -= 1;
  return chosen;
}

void RowFrames::note(int x, int top, std::span<const Share> shares) {
  for (const Share& share : shares) {
    if (share.key == kNone || share.ns == 0) continue;
    Of& frame = of(share.key);
    frame.all_ns += share.ns;
    if (share.ns <= frame.most_ns) continue;
    frame.most_ns = share.ns;
    frame.x = x;
    frame.top = top;
  }
}

std::vector<RowFrames::Spot> RowFrames::unpainted(int columns) {
  std::vector<uint32_t> keys;
  for (const uint32_t key : there_)
    if (!frames_[key].is_painted && frames_[key].all_ns > 0) keys.push_back(key);
  std::sort(keys.begin(), keys.end(), [this](uint32_t one, uint32_t other) {
    const uint64_t a = frames_[one].all_ns, b = frames_[other].all_ns;
    return a != b ? a > b : one < other;
  });
  constexpr int kPart = 8;
  const auto most = static_cast<size_t>(std::max(columns / kPart, 1));
  std::vector<Spot> spots;
  std::vector<bool> is_taken(static_cast<size_t>(columns));
  for (const uint32_t key : keys) {
    const Of& frame = frames_[key];
    if (spots.size() >= most) break;
    if (is_taken[static_cast<size_t>(frame.x)]) continue;
    is_taken[static_cast<size_t>(frame.x)] = true;
    spots.push_back({frame.x, frame.top, key});
  }
  return spots;
}

}  // namespace prof::viewer
