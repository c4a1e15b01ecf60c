#include "viewer/document/colours.h"

#include <algorithm>
#include <cmath>

namespace prof::viewer {

namespace {

// FNV-1a, finished by a mix: names that differ in their last letter are to differ in all bits.
uint64_t hash(std::string_view name) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const char letter : name) h = (h ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
  return h ^ (h >> 33);
}

QColor blend(const QColor& under, const QColor& over, double weight) {
  const auto part = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * weight)); };
  return {part(under.red(), over.red()), part(under.green(), over.green()), part(under.blue(), over.blue())};
}

}  // namespace

QRgb colour_of_function(std::string_view name) {
  constexpr unsigned kHues = 360, kSteps = 4;
  constexpr float kLeastLightness = 0.66f, kLightnessStep = 0.03f;
  constexpr float kLeastSaturation = 0.42f, kSaturationStep = 0.08f;
  const uint64_t h = hash(name);
  const float hue = static_cast<float>(h % kHues) / kHues;
  const float lightness = kLeastLightness + kLightnessStep * static_cast<float>(h >> 20 & (kSteps - 1));
  const float saturation = kLeastSaturation + kSaturationStep * static_cast<float>(h >> 40 & (kSteps - 1));
  return QColor::fromHslF(hue, saturation, lightness).rgb();
}

QColor ink_on_function() {
  return Qt::black;
}

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Text).lightness() > palette.color(QPalette::Base).lightness();
}

QColor found_colour(const QPalette& palette) {
  return is_dark(palette) ? QColor(0x6b, 0x5a, 0x10) : QColor(0xff, 0xe6, 0x70);
}

QColor heat_colour(const QPalette& palette, double share) {
  const QColor hot = is_dark(palette) ? QColor(0xa0, 0x3a, 0x24) : QColor(0xff, 0x9a, 0x70);
  return blend(palette.color(QPalette::Base), hot, std::clamp(share, 0.0, 1.0));
}

}  // namespace prof::viewer
