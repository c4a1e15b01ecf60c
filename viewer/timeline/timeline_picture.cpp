#include "viewer/timeline/timeline_picture.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "analysis/pipeline/parallel.h"

namespace prof::viewer {

namespace {

constexpr int kThreads = 2;
constexpr int kLowRow = 4;        // up to this height a pixel column is one frame
constexpr int kParted = 6;        // from this height on, rows have a line between them
constexpr double kPalest = 0.35;  // of a frame's colour, however short it ran

struct Line {
  size_t row;
  int y, height;  // may begin above the picture and end below
};

std::vector<Line> lines_of(const PictureRequest& request) {
  std::vector<Line> lines;
  const int height = request.size.height();
  const auto count = static_cast<double>(request.rows.size());
  if (request.row_height < 1) {
    for (int y = 0; y < height; ++y) {
      const double row = (y + request.scrolled + 0.5) / request.row_height;
      if (row < count) lines.push_back({request.rows[static_cast<size_t>(row)], y, 1});
    }
    return lines;
  }
  const auto first = static_cast<size_t>(std::min(request.scrolled / request.row_height, count));
  for (size_t i = first; i < request.rows.size(); ++i) {
    const auto edge = [&](size_t row) {
      return static_cast<int>(std::floor(static_cast<double>(row) * request.row_height)) - request.scrolled;
    };
    const int y = edge(i), end = edge(i + 1);
    if (y >= height) break;
    lines.push_back({request.rows[i], y, end - y - (end - y >= kParted ? 1 : 0)});
  }
  return lines;
}

QRgb blend(QRgb below, QRgb above, double share) {
  const auto part = [&](int one, int other) { return static_cast<int>(one + (other - one) * share); };
  return qRgb(part(qRed(below), qRed(above)), part(qGreen(below), qGreen(above)),
              part(qBlue(below), qBlue(above)));
}

struct PixelSums {
  uint64_t running = 0, all = 0, most = 0;
  uint32_t key_of_most = 0;
};

PixelSums sums_of(std::span<const Share> shares) {
  PixelSums sums;
  for (const Share& share : shares) {
    sums.all += share.ns;
    if (share.key == kNone) continue;
    sums.running += share.ns;
    if (share.ns > sums.most) sums.most = share.ns, sums.key_of_most = share.key;
  }
  return sums;
}

// Where the bars of a picture go.
class Canvas {
 public:
  explicit Canvas(QImage& image)
      : bits_(reinterpret_cast<QRgb*>(image.bits())),
        stride_(image.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb))),
        height_(image.height()) {}

  void fill(int x, int begin, int end, QRgb colour) {
    begin = std::max(begin, 0);
    end = std::min(end, height_);
    for (int y = begin; y < end; ++y) bits_[y * stride_ + x] = colour;
  }

 private:
  QRgb* bits_;
  qsizetype stride_;
  int height_;
};

// One column of a row from `y` on; `full_ns` is what fills its height.
void paint_column(Canvas& canvas, int x, int y, int height, std::span<const Share> shares, double full_ns,
                  const PictureRequest& request) {
  const PixelSums sums = sums_of(shares);
  if (sums.all == 0) return;
  canvas.fill(x, y, y + height, request.idle);
  if (sums.running == 0) return;
  const double coverage = std::min(static_cast<double>(sums.running) / full_ns, 1.0);
  if (height <= kLowRow) {
    const int bar = std::max(1, static_cast<int>(std::lround(coverage * height)));
    const double strength = height == 1 ? std::max(coverage, kPalest) : 1;
    canvas.fill(x, y + height - bar, y + height,
                blend(request.idle, request.colours[sums.key_of_most], strength));
    return;
  }
  const int bar = std::max(1, static_cast<int>(std::lround(coverage * height)));
  uint64_t below = 0;
  int bottom = y + height;
  const int top_of_bar = bottom - bar;
  for (const Share& share : shares) {
    if (share.key == kNone) continue;
    below += share.ns;
    const int top =
        y + height -
        static_cast<int>(std::lround(static_cast<double>(below) / static_cast<double>(sums.running) * bar));
    canvas.fill(x, top, bottom, request.colours[share.key]);
    bottom = top;
  }
  canvas.fill(x, top_of_bar, bottom, request.colours[sums.key_of_most]);
}

// Finds pixels side by side that are one frame alone.
class RunFinder {
 public:
  RunFinder(const Line& line, std::vector<Run>& runs) : line_(line), runs_(runs) {}
  void add(int x, std::span<const Share> shares) {
    const uint32_t key = shares.size() == 1 ? shares.front().key : kNone;
    if (key == key_) return;
    end(x);
    key_ = key;
    begin_ = x;
  }
  void end(int x) {
    if (key_ != kNone && x - begin_ >= TimelinePicture::kLeastRunWidth)
      runs_.push_back({begin_, line_.y, x - begin_, line_.height, key_});
  }

 private:
  Line line_;
  std::vector<Run>& runs_;
  uint32_t key_ = kNone;
  int begin_ = 0;
};

}  // namespace

const QImage& TimelinePicture::paint(const PictureRequest& request) {
  if (image_.size() != request.size) image_ = QImage(request.size, QImage::Format_RGB32);
  image_.fill(request.gap);
  runs_.clear();
  if (request.size.isEmpty() || request.time.ns() == 0) return image_;
  const std::vector<Line> lines = lines_of(request);
  const PixelScale scale(request.time.begin_ns, request.time.end_ns, request.size.width());
  columns_.resize(kThreads);
  std::vector<std::vector<Run>> runs(kThreads);
  Canvas canvas(image_);
  std::atomic<size_t> next{0};
  parallel_for(kThreads, kThreads, [&](size_t thread) {
    Columns& columns = columns_[thread];
    for (size_t i = next++; i < lines.size(); i = next++) {
      const Line& line = lines[i];
      columns.fill(*request.traces, request.index, line.row, scale, request.keys,
                   static_cast<uint32_t>(request.colours.size()));
      RunFinder finder(line, runs[thread]);
      for (int x = 0; x < scale.pixels(); ++x) {
        const auto at = static_cast<size_t>(x);
        const auto shares = columns.pixel(x);
        const auto full_ns = static_cast<double>(scale.edges[at + 1] - scale.edges[at]);
        paint_column(canvas, x, line.y, line.height, shares, full_ns, request);
        if (line.height >= kLeastRunHeight) finder.add(x, shares);
      }
      finder.end(scale.pixels());
    }
  });
  for (const std::vector<Run>& some : runs) runs_.insert(runs_.end(), some.begin(), some.end());
  return image_;
}

QImage paint_overview(const PictureRequest& request) {
  QImage image(request.size, QImage::Format_RGB32);
  image.fill(request.gap);
  if (request.size.isEmpty() || request.time.ns() == 0 || request.rows.empty()) return image;
  const PixelScale scale(request.time.begin_ns, request.time.end_ns, request.size.width());
  const auto pixels = static_cast<size_t>(scale.pixels());
  const size_t keys = request.colours.size();
  // What ran, by pixel: of each thread, summed up below.
  std::vector<std::vector<std::vector<Share>>> sums(kThreads, std::vector<std::vector<Share>>(pixels));
  std::atomic<size_t> next{0};
  parallel_for(kThreads, kThreads, [&](size_t thread) {
    Columns columns;
    for (size_t i = next++; i < request.rows.size(); i = next++) {
      columns.fill(*request.traces, request.index, request.rows[i], scale, request.keys,
                   static_cast<uint32_t>(keys));
      for (size_t x = 0; x < pixels; ++x) {
        std::vector<Share>& sum = sums[thread][x];
        for (const Share& share : columns.pixel(static_cast<int>(x))) {
          const auto same = std::lower_bound(sum.begin(), sum.end(), share.key,
                                             [](const Share& one, uint32_t key) { return one.key < key; });
          if (same != sum.end() && same->key == share.key)
            same->ns += share.ns;
          else
            sum.insert(same, share);
        }
      }
    }
  });
  Canvas canvas(image);
  std::vector<Share> all;
  for (size_t x = 0; x < pixels; ++x) {
    all.clear();
    for (const auto& of_thread : sums) all.insert(all.end(), of_thread[x].begin(), of_thread[x].end());
    std::sort(all.begin(), all.end(),
              [](const Share& one, const Share& other) { return one.key < other.key; });
    const double full_ns =
        static_cast<double>(scale.edges[x + 1] - scale.edges[x]) * static_cast<double>(request.rows.size());
    paint_column(canvas, static_cast<int>(x), 0, image.height(), all, full_ns, request);
  }
  return image;
}

}  // namespace prof::viewer
