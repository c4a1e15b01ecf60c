#include "viewer/trace/columns.h"

#include <algorithm>
#include <cmath>

namespace prof::viewer {

namespace {

// Blocks up to this many pixels wide are painted as a whole. At half that limit, blocks would have to be read
// down to their records if a pixel has nearly as many records as a block.
constexpr double kWidestBlock = 2;

}  // namespace

PixelScale::PixelScale(uint64_t begin_ns, uint64_t end_ns, int pixels) {
  const auto count = static_cast<size_t>(std::max(pixels, 1));
  edges.resize(count + 1, end_ns);
  const double pixel = static_cast<double>(end_ns - begin_ns) / static_cast<double>(count);
  for (size_t x = 0; x < count; ++x)
    edges[x] = begin_ns + static_cast<uint64_t>(pixel * static_cast<double>(x));
}

void Columns::fill(const MappedTraces& traces, const TraceIndex* index, size_t row, const PixelScale& scale,
                   std::span<const uint32_t> keys, uint32_t key_count) {
  scale_ = &scale;
  keys_ = keys;
  key_count_ = key_count;
  for (Sums* const sums : {&sums_, &next_}) sums->of_key.resize(key_count + size_t{1}, 0);
  first_.assign(1, 0);
  shares_.clear();
  pixel_ = 0;
  if (index)
    fill_exactly(*index, row);
  else
    fill_by_samples(traces, row);
  while (pixel_ < static_cast<size_t>(scale.pixels())) end_pixel();
}

void Columns::fill_exactly(const TraceIndex& index, size_t row) {
  const double widest = kWidestBlock * scale_->pixel_ns();
  index.walk(
      row, scale_->begin_ns(), scale_->end_ns(),
      [&](uint64_t begin, uint64_t end) { return static_cast<double>(end - begin) <= widest; },
      [&](const Block& block, uint64_t end) { add_block(index, block, end); },
      [&](uint64_t begin, uint64_t end, uint32_t context) {
        add_segment(std::max(begin, scale_->begin_ns()), std::min(end, scale_->end_ns()), key_of(context));
      });
}

void Columns::fill_by_samples(const MappedTraces& traces, size_t row) {
  for (size_t x = 0; x < static_cast<size_t>(scale_->pixels()); ++x) {
    const uint64_t begin = scale_->edges[x], end = scale_->edges[x + 1];
    const auto instant = instant_at(traces, row, begin + (end - begin) / 2);
    if (instant) sums_.add(key_of(instant->context), end - begin);
    end_pixel();
  }
}

bool Columns::skip_to(uint64_t time_ns) {
  const auto pixels = static_cast<size_t>(scale_->pixels());
  while (pixel_ < pixels && scale_->edges[pixel_ + 1] <= time_ns) end_pixel();
  return pixel_ < pixels;
}

void Columns::add_segment(uint64_t begin_ns, uint64_t end_ns, uint32_t key) {
  while (begin_ns < end_ns && skip_to(begin_ns)) {
    const uint64_t edge = std::min(end_ns, scale_->edges[pixel_ + 1]);
    sums_.add(key, edge - begin_ns);
    begin_ns = edge;
  }
}

void Columns::add_block(const TraceIndex& index, const Block& block, uint64_t end_ns) {
  if (!skip_to(block.begin_ns)) return;
  if (end_ns <= scale_->edges[pixel_ + 1]) {
    index.for_each_entry(block, [&](uint32_t context, uint64_t ns) { sums_.add(key_of(context), ns); });
    return;
  }
  // Counts each entry up to this share of the block's time, minus what was counted before, so that the pixels
  // add up to the block.
  const auto duration = static_cast<double>(end_ns - block.begin_ns);
  const auto up_to = [](uint64_t ns, double share) {
    return static_cast<uint64_t>(static_cast<double>(ns) * share);
  };
  for (double before = 0;;) {
    const uint64_t edge = scale_->edges[pixel_ + 1];
    if (edge >= end_ns) {
      index.for_each_entry(
          block, [&](uint32_t context, uint64_t ns) { sums_.add(key_of(context), ns - up_to(ns, before)); });
      return;
    }
    const double after = static_cast<double>(edge - block.begin_ns) / duration;
    const bool ends_in_next = scale_->edges[pixel_ + 2] >= end_ns;
    index.for_each_entry(block, [&](uint32_t context, uint64_t ns) {
      const uint32_t key = key_of(context);
      const uint64_t here = up_to(ns, after);
      sums_.add(key, here - up_to(ns, before));
      if (ends_in_next) next_.add(key, ns - here);
    });
    if (ends_in_next) return;
    before = after;
    skip_to(edge);
  }
}

void Columns::end_pixel() {
  for (const uint32_t key : sums_.touched) {
    shares_.push_back({key == key_count_ ? kNone : key, sums_.of_key[key]});
    sums_.of_key[key] = 0;
  }
  sums_.touched.clear();
  if (!next_.touched.empty()) std::swap(sums_, next_);
  first_.push_back(shares_.size());
  ++pixel_;
}

}  // namespace prof::viewer
