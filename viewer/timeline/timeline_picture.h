#pragma once
// Paints rows of traces into a picture, by a few threads: for each pixel column a bar, as high as its share
// of the time in which something ran, made up of the frames in proportion to their time. Where a row is too
// low for that, the frame with most time, paler where little ran. Whatever ran is seen: at least a pixel of
// it.

#include <QColor>
#include <QImage>
#include <span>
#include <vector>

#include "viewer/trace/columns.h"
#include "viewer/trace/time_range.h"

namespace prof::viewer {

struct PictureRequest {
  const MappedTraces* traces = nullptr;
  const TraceIndex* index = nullptr;  // may be null: see Columns
  std::span<const size_t> rows;       // in MappedTraces, from above
  std::span<const uint32_t> keys;     // of each context
  std::span<const QRgb> colours;      // of each key
  QRgb idle = 0, gap = 0;
  TimeRange time;
  QSize size;             // in pixels of the device
  double row_height = 1;  // likewise; below 1 a line of pixels shows one of its rows
  int scrolled = 0;       // pixels of the rows that are above the picture
};

// The same function for so many pixels that its name fits on them.
struct Run {
  int x = 0, y = 0, width = 0, height = 0;  // pixels of the device
  uint32_t key = 0;
};

class TimelinePicture {
 public:
  static constexpr int kLeastRunWidth = 40, kLeastRunHeight = 12;

  // Kept until the next one.
  const QImage& paint(const PictureRequest& request);
  const QImage& image() const { return image_; }
  const std::vector<Run>& runs() const { return runs_; }

 private:
  QImage image_;
  std::vector<Run> runs_;
  std::vector<Columns> columns_;  // of each thread
};

// All rows in one: a bar is as high as the share of the rows in which something ran. `height` in pixels.
QImage paint_overview(const PictureRequest& request);

}  // namespace prof::viewer
