#include "viewer/timeline/timeline_picture.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "analysis/pipeline/parallel.h"

namespace prof::viewer {

namespace {

constexpr int kThreads = 2;
constexpr int kLowRow = 4;        // up to this height, a pixel column shows one frame
constexpr int kParted = 6;        // from this height on, a line separates rows
constexpr double kPalest = 0.35;  // of a frame's colour, however short its time

QRgb blend(QRgb below, QRgb above, double share) {
  constexpr int kWhole = 1 << 16;
  const int of_above = static_cast<int>(share * kWhole);
  const auto part = [&](int one, int other) { return one + (other - one) * of_above / kWhole; };
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

// The area into which bars are painted.
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

// Paints one row from `y` on, column by column.
class RowPainter {
 public:
  RowPainter(QImage& image, int y, int height, const PictureRequest& request, RowFrames& frames)
      : canvas_(image), y_(y), height_(height), request_(request), frames_(frames) {
    frames_.begin(request.colours.size());
  }

  // `full_ns` fills the row's height.
  void paint(int x, std::span<const Share> shares, double full_ns) {
    canvas_.fill(x, y_, y_ + height_, request_.gap);
    const PixelSums sums = sums_of(shares);
    if (sums.all == 0) return;
    canvas_.fill(x, y_, y_ + height_, request_.idle);
    if (sums.running == 0) return;
    const double coverage = std::min(static_cast<double>(sums.running) / full_ns, 1.0);
    const int bar = std::max(1, static_cast<int>(coverage * height_ + 0.5));
    const int top = y_ + height_ - bar;
    frames_.note(x, top, shares);
    const bool is_alone = sums.most == sums.running;
    if (height_ > kLowRow && !is_alone) return paint_parts(x, bar, shares, sums);
    const uint32_t key = is_alone ? sums.key_of_most : frames_.turn(shares, sums.running);
    frames_.note_painted(key);
    const QRgb colour = request_.colours[key];
    canvas_.fill(x, top, y_ + height_,
                 height_ == 1 ? blend(request_.idle, colour, std::max(coverage, kPalest)) : colour);
  }

  // Called after the last column.
  void finish(int columns) {
    for (const RowFrames::Spot& spot : frames_.unpainted(columns))
      canvas_.fill(spot.x, spot.top, spot.top + 1, request_.colours[spot.key]);
  }

 private:
  // Paints the frames that get at least half a pixel of the bar, in the same order in neighbouring columns.
  // The rest of the bar goes to the largest one.
  void paint_parts(int x, int bar, std::span<const Share> shares, const PixelSums& sums) {
    const uint64_t least = sums.running / (2 * static_cast<uint64_t>(bar));
    parts_.clear();
    uint64_t rest = sums.running;
    for (const Share& share : shares) {
      if (share.key == kNone || (share.ns < least && share.key != sums.key_of_most)) continue;
      parts_.push_back(share);
      rest -= share.ns;
    }
    std::sort(parts_.begin(), parts_.end(),
              [](const Share& one, const Share& other) { return one.key < other.key; });
    const int end = y_ + height_;
    uint64_t below = 0;
    int bottom = end;
    for (const Share& part : parts_) {
      below += part.ns + (part.key == sums.key_of_most ? rest : 0);
      const double share = static_cast<double>(below) / static_cast<double>(sums.running);
      const int top = end - static_cast<int>(share * bar + 0.5);
      canvas_.fill(x, top, bottom, request_.colours[part.key]);
      if (top < bottom) frames_.note_painted(part.key);
      bottom = top;
    }
  }

  Canvas canvas_;
  const int y_, height_;
  const PictureRequest& request_;
  RowFrames& frames_;
  std::vector<Share> parts_;
};

void paint_sums(QImage& image, int y, int height, const RowSums& sums, const PixelScale& scale, size_t rows,
                const PictureRequest& request) {
  RowFrames frames;
  RowPainter painter(image, y, height, request, frames);
  for (int x = 0; x < scale.pixels(); ++x) {
    const auto at = static_cast<size_t>(x);
    painter.paint(x, sums.pixel(x),
                  static_cast<double>(scale.edges[at + 1] - scale.edges[at]) * static_cast<double>(rows));
  }
  painter.finish(scale.pixels());
}

}  // namespace

// Finds adjacent pixels that show a single frame.
class TimelinePicture::RunFinder {
 public:
  RunFinder(const Track& track, std::vector<Run>& runs) : track_(track), runs_(runs) {}
  void add(int x, std::span<const Share> shares) {
    const uint32_t key = shares.size() == 1 ? shares.front().key : kNone;
    if (key == key_) return;
    end(x);
    key_ = key;
    begin_ = x;
  }
  void end(int x) {
    if (key_ != kNone && x - begin_ >= TimelinePicture::kMinRunWidth)
      runs_.push_back({begin_, track_.y, x - begin_, track_.height, key_});
  }

 private:
  Track track_;
  std::vector<Run>& runs_;
  uint32_t key_ = kNone;
  int begin_ = 0;
};

void TimelinePicture::add_track(const PictureRow& row, int y, int height) {
  (row.size() == 1 ? tracks_ : sums_).push_back({row, y, height});
}

void TimelinePicture::add_tracks(const PictureRequest& request) {
  const int height = request.size.height();
  const auto count = static_cast<double>(request.rows.size());
  if (request.row_height < 1) {
    for (int y = 0; y < height; ++y) {
      const double row = (y + request.scrolled + 0.5) / request.row_height;
      if (row < count) add_track(request.rows[static_cast<size_t>(row)], y, 1);
    }
    return;
  }
  const auto first = static_cast<size_t>(std::min(request.scrolled / request.row_height, count));
  for (size_t i = first; i < request.rows.size(); ++i) {
    const auto edge = [&](size_t row) {
      return static_cast<int>(std::floor(static_cast<double>(row) * request.row_height)) - request.scrolled;
    };
    const int y = edge(i), end = edge(i + 1);
    if (y >= height) break;
    add_track(request.rows[i], y, end - y - (end - y >= kParted ? 1 : 0));
  }
}

void TimelinePicture::stretch(const PictureRequest& request) {
  const bool is_alike = image_.size() == request.size && request.row_height == request_.row_height &&
                        request.scrolled == request_.scrolled && request_.time.ns() > 0;
  QImage image(request.size, QImage::Format_RGB32);
  image.fill(request.gap);
  if (is_alike) {
    const double per_ns = request.size.width() / static_cast<double>(request.time.ns());
    const auto x = [&](uint64_t time) {
      return static_cast<double>(static_cast<int64_t>(time - request.time.begin_ns)) * per_ns;
    };
    const double begin = x(request_.time.begin_ns), end = x(request_.time.end_ns);
    QPainter painter(&image);
    painter.drawImage(QRectF(begin, 0, end - begin, request.size.height()), image_,
                      QRectF(0, 0, image_.width(), image_.height()));
  }
  image_ = std::move(image);
}

void TimelinePicture::begin(const PictureRequest& request) {
  runs_.clear();
  tracks_.clear();
  sums_.clear();
  next_ = next_sum_ = next_row_ = 0;
  if (request.size.isEmpty() || request.time.ns() == 0) {
    image_ = QImage(request.size, QImage::Format_RGB32);
    image_.fill(request.gap);
    return;
  }
  stretch(request);
  request_ = request;
  add_tracks(request);
  scale_ = PixelScale(request.time.begin_ns, request.time.end_ns, request.size.width());
  // Clears the parts that no row covers.
  int end = 0;
  for (const std::vector<Track>* const tracks : {&tracks_, &sums_})
    if (!tracks->empty()) end = std::max(end, tracks->back().y + tracks->back().height);
  Canvas canvas(image_);
  for (int x = 0; x < image_.width(); ++x) canvas.fill(x, end, image_.height(), request.gap);
}

void TimelinePicture::paint_track(const Track& track, Columns& columns, RowFrames& frames,
                                  std::vector<Run>& runs) {
  columns.fill(*request_.traces, request_.index, track.rows.front(), scale_, request_.keys,
               static_cast<uint32_t>(request_.colours.size()));
  RunFinder finder(track, runs);
  RowPainter painter(image_, track.y, track.height, request_, frames);
  for (int x = 0; x < scale_.pixels(); ++x) {
    const auto at = static_cast<size_t>(x);
    const auto shares = columns.pixel(x);
    painter.paint(x, shares, static_cast<double>(scale_.edges[at + 1] - scale_.edges[at]));
    if (track.height >= kMinRunHeight) finder.add(x, shares);
  }
  painter.finish(scale_.pixels());
  finder.end(scale_.pixels());
}

void TimelinePicture::advance(std::chrono::milliseconds budget) {
  if (is_complete()) return;
  const auto deadline = std::chrono::steady_clock::now() + budget;
  columns_.resize(kThreads);
  frames_.resize(kThreads);
  std::vector<std::vector<Run>> runs(kThreads);
  image_.bits();  // detaches once, not in each thread
  parallel_for(kThreads, kThreads, [&](size_t thread) {
    do {
      const size_t track = next_++;
      if (track >= tracks_.size()) return;
      paint_track(tracks_[track], columns_[thread], frames_[thread], runs[thread]);
    } while (std::chrono::steady_clock::now() < deadline);
  });
  for (const std::vector<Run>& some : runs) runs_.insert(runs_.end(), some.begin(), some.end());
  if (next_ >= tracks_.size()) advance_sums(deadline);
}

void TimelinePicture::advance_sums(std::chrono::steady_clock::time_point deadline) {
  while (next_sum_ < sums_.size()) {
    const Track& track = sums_[next_sum_];
    if (next_row_ == 0) sum_ = RowSums(scale_.pixels());
    while (next_row_ < track.rows.size()) {
      columns_[0].fill(*request_.traces, request_.index, track.rows[next_row_++], scale_, request_.keys,
                       static_cast<uint32_t>(request_.colours.size()));
      sum_.add(columns_[0]);
      if (std::chrono::steady_clock::now() >= deadline) return;
    }
    paint_sums(image_, track.y, track.height, sum_, scale_, track.rows.size(), request_);
    ++next_sum_;
    next_row_ = 0;
  }
}

void RowSums::add(const Columns& row) {
  for (size_t x = 0; x < of_pixel_.size(); ++x) {
    std::vector<Share>& sums = of_pixel_[x];
    const auto add = [&](uint32_t key, uint64_t ns) {
      if (ns == 0) return;
      const auto at = std::lower_bound(sums.begin(), sums.end(), key,
                                       [](const Share& one, uint32_t other) { return one.key < other; });
      if (at != sums.end() && at->key == key)
        at->ns += ns;
      else
        sums.insert(at, {key, ns});
    };
    const auto shares = row.pixel(static_cast<int>(x));
    const PixelSums pixel = sums_of(shares);
    constexpr uint64_t kMinPart = 8;
    uint64_t rest = pixel.running;
    for (const Share& share : shares) {
      if (share.key == kNone || share.key == pixel.key_of_most || share.ns < pixel.running / kMinPart)
        continue;
      add(share.key, share.ns);
      rest -= share.ns;
    }
    add(pixel.key_of_most, rest);
    add(kNone, pixel.all - pixel.running);
  }
}

void Overview::begin(const PictureRequest& request) {
  request_ = request;
  next_ = 0;
  rows_.clear();
  image_ = QImage(request.size, QImage::Format_RGB32);
  image_.fill(request.gap);
  if (request.size.isEmpty() || request.time.ns() == 0) return;
  for (const PictureRow& row : request.rows) rows_.insert(rows_.end(), row.begin(), row.end());
  std::sort(rows_.begin(), rows_.end());  // rows of open groups are in their sums as well
  rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  scale_ = PixelScale(request.time.begin_ns, request.time.end_ns, request.size.width());
  sums_ = RowSums(scale_.pixels());
}

void Overview::advance(std::chrono::milliseconds budget) {
  if (is_complete()) return;
  const auto deadline = std::chrono::steady_clock::now() + budget;
  do {
    columns_.fill(*request_.traces, request_.index, rows_[next_++], scale_, request_.keys,
                  static_cast<uint32_t>(request_.colours.size()));
    sums_.add(columns_);
  } while (!is_complete() && std::chrono::steady_clock::now() < deadline);
  paint_sums(image_, 0, image_.height(), sums_, scale_, rows_.size(), request_);
}

}  // namespace prof::viewer
