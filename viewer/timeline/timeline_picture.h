#pragma once
// Paints rows of traces into a picture, by a few threads: for each pixel column a bar, as high as its share
// of the time in which something ran, made up of the frames in proportion to their time. Where a row is too
// low for that, one of the frames, which take turns by their time, paler where little ran. Whatever ran is
// seen: a pixel of each frame in its row at least (row_frames.h).

#include <QColor>
#include <QImage>
#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include "viewer/timeline/row_frames.h"
#include "viewer/trace/columns.h"
#include "viewer/trace/time_range.h"

namespace prof::viewer {

// Rows in MappedTraces that are painted as one: a bar is as high as the share of them in which something ran,
// of the frames that had most of each one's pixel, or an eighth of it.
using PictureRow = std::vector<size_t>;

struct PictureRequest {
  const MappedTraces* traces = nullptr;
  const TraceIndex* index = nullptr;  // may be null: see Columns
  std::span<const PictureRow> rows;   // from above
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

// Sums of rows in each pixel, made row by row.
class RowSums {
 public:
  explicit RowSums(int pixels = 0) : of_pixel_(static_cast<size_t>(pixels)) {}
  void add(const Columns& row);
  // By rising key.
  std::span<const Share> pixel(int x) const { return of_pixel_[static_cast<size_t>(x)]; }

 private:
  std::vector<std::vector<Share>> of_pixel_;
};

// Painted in pieces, so that no repaint of the window waits for all rows: what is not painted yet shows the
// picture before, stretched to the new time.
class TimelinePicture {
 public:
  static constexpr int kLeastRunWidth = 40, kLeastRunHeight = 12;

  // What the request points to must stay until the picture is complete, or begun anew.
  void begin(const PictureRequest& request);
  // Paints rows for about this long.
  void advance(std::chrono::milliseconds budget);
  bool is_complete() const { return next_ >= lines_.size() && next_sum_ >= sums_.size(); }
  const QImage& image() const { return image_; }
  const std::vector<Run>& runs() const { return runs_; }

 private:
  struct Line {
    std::span<const size_t> rows;
    int y, height;  // may begin above the picture and end below
  };
  class RunFinder;
  void add_lines(const PictureRequest& request);
  void add_line(const PictureRow& row, int y, int height);
  // Of the rows that are sums, one after the other.
  void advance_sums(std::chrono::steady_clock::time_point deadline);
  void stretch(const PictureRequest& request);
  void paint_line(const Line& line, Columns& columns, RowFrames& frames, std::vector<Run>& runs);

  PictureRequest request_;
  PixelScale scale_{0, 0, 1};
  QImage image_;
  std::vector<Line> lines_, sums_;  // of one row each, and of several
  std::atomic<size_t> next_{0};     // line to paint
  size_t next_sum_ = 0, next_row_ = 0;
  RowSums sum_;
  std::vector<Run> runs_;
  std::vector<Columns> columns_;   // of each thread
  std::vector<RowFrames> frames_;  // likewise
};

// All rows of the request in one. In pieces as above.
class Overview {
 public:
  void begin(const PictureRequest& request);
  void advance(std::chrono::milliseconds budget);
  bool is_complete() const { return next_ >= rows_.size(); }
  // Of the rows that were read so far.
  const QImage& image() const { return image_; }

 private:
  void paint();

  PictureRequest request_;
  PixelScale scale_{0, 0, 1};
  QImage image_;
  PictureRow rows_;
  size_t next_ = 0;  // row to read
  RowSums sums_;
  Columns columns_;
};

}  // namespace prof::viewer
