#pragma once
// Paints rows of traces into a picture, with a few threads. Each pixel column is a bar whose height is the
// share of time in which something ran, divided among the frames in proportion to their time. If a row is too
// low for that, each column shows one frame. The frames alternate by their time, and the colour is paler if
// little ran. Everything that ran is visible: each frame gets at least one pixel in its row (row_frames.h).

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

// Rows of MappedTraces that are painted as one. The height of a bar is the share of rows in which something
// ran. It shows the frames that took most of a row's pixel, or at least an eighth of it.
using PictureRow = std::vector<size_t>;

struct PictureRequest {
  const MappedTraces* traces = nullptr;
  const TraceIndex* index = nullptr;  // may be null: see Columns
  std::span<const PictureRow> rows;   // from the top
  std::span<const uint32_t> keys;     // one per context
  std::span<const QRgb> colours;      // one per key
  QRgb idle = 0, gap = 0;
  TimeRange time;
  QSize size;             // in device pixels
  double row_height = 1;  // in device pixels; below 1, a line of pixels shows one of its rows
  int scrolled = 0;       // pixels of the rows above the picture
};

// A stretch with the same function, wide enough for its name.
struct Run {
  int x = 0, y = 0, width = 0, height = 0;  // device pixels
  uint32_t key = 0;
};

// Sums of rows in each pixel, computed row by row.
class RowSums {
 public:
  explicit RowSums(int pixels = 0) : of_pixel_(static_cast<size_t>(pixels)) {}
  void add(const Columns& row);
  // Returns shares in ascending order of keys.
  std::span<const Share> pixel(int x) const { return of_pixel_[static_cast<size_t>(x)]; }

 private:
  std::vector<std::vector<Share>> of_pixel_;
};

// Painted in pieces, so that no repaint of the window waits for all rows. What is not painted yet shows the
// previous picture, stretched to the new time.
class TimelinePicture {
 public:
  static constexpr int kMinRunWidth = 40, kMinRunHeight = 12;

  // Begins a picture. Objects that the request points to must live until the picture is complete or begun
  // again.
  void begin(const PictureRequest& request);
  // Paints rows for about this time.
  void advance(std::chrono::milliseconds budget);
  bool is_complete() const { return next_ >= tracks_.size() && next_sum_ >= sums_.size(); }
  const QImage& image() const { return image_; }
  const std::vector<Run>& runs() const { return runs_; }

 private:
  struct Track {
    std::span<const size_t> rows;
    int y, height;  // may begin above the picture and end below it
  };
  class RunFinder;
  void add_tracks(const PictureRequest& request);
  void add_track(const PictureRow& row, int y, int height);
  // Advances the rows that are sums, one after the other.
  void advance_sums(std::chrono::steady_clock::time_point deadline);
  void stretch(const PictureRequest& request);
  void paint_track(const Track& track, Columns& columns, RowFrames& frames, std::vector<Run>& runs);

  PictureRequest request_;
  PixelScale scale_{0, 0, 1};
  QImage image_;
  std::vector<Track> tracks_, sums_;  // of one row each, and of several
  std::atomic<size_t> next_{0};       // next track to paint
  size_t next_sum_ = 0, next_row_ = 0;
  RowSums sum_;
  std::vector<Run> runs_;
  std::vector<Columns> columns_;   // one per thread
  std::vector<RowFrames> frames_;  // one per thread
};

// All rows of the request in one, painted in pieces as above.
class Overview {
 public:
  void begin(const PictureRequest& request);
  void advance(std::chrono::milliseconds budget);
  bool is_complete() const { return next_ >= rows_.size(); }
  // Shows the rows that were read so far.
  const QImage& image() const { return image_; }

 private:
  void paint();

  PictureRequest request_;
  PixelScale scale_{0, 0, 1};
  QImage image_;
  PictureRow rows_;
  size_t next_ = 0;  // next row to read
  RowSums sums_;
  Columns columns_;
};

}  // namespace prof::viewer
