#include "viewer/document/colours.h"

#include <algorithm>
#include <cmath>

namespace prof::viewer {

namespace {

// FNV-1a with a final mix: names that differ in their last letter must differ in all bits.
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

double linear(float part) {
  return part <= 0.04045F ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& colour) {
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

}  // namespace

QRgb colour_of_function(std::string_view name) {
  constexpr unsigned kHues = 360, kSteps = 4;
  constexpr float kMinLightness = 0.66f, kLightnessStep = 0.03f;
  constexpr float kMinSaturation = 0.42f, kSaturationStep = 0.08f;
  const uint64_t h = hash(name);
  const float hue = static_cast<float>(h % kHues) / kHues;
  const float lightness = kMinLightness + kLightnessStep * static_cast<float>(h >> 20 & (kSteps - 1));
  const float saturation = kMinSaturation + kSaturationStep * static_cast<float>(h >> 40 & (kSteps - 1));
  return QColor::fromHslF(hue, saturation, lightness).rgb();
}

QColor ink_on_function() {
  return Qt::black;
}

double contrast(const QColor& one, const QColor& other) {
  const double a = luminance(one), b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

QColor ink_on(const QColor& ground) {
  return contrast(Qt::black, ground) > contrast(Qt::white, ground) ? Qt::black : Qt::white;
}

QColor readable_on(const QColor& ground, const QColor& colour) {
  constexpr float kStep = 0.01F;
  const float step = ink_on(ground) == Qt::black ? -kStep : kStep;
  QColor readable = colour;
  for (float lightness = colour.lightnessF(); contrast(readable, ground) < kReadable; lightness += step) {
    if (lightness < 0 || lightness > 1) return ink_on(ground);
    readable.setHslF(std::max(colour.hslHueF(), 0.0F), colour.hslSaturationF(), lightness);
  }
  return readable;
}

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Text).lightness() > palette.color(QPalette::Base).lightness();
}

QColor found_colour(const QPalette& palette) {
  return is_dark(palette) ? QColor(0x6b, 0x5a, 0x10) : QColor(0xff, 0xe6, 0x70);
}

QColor change_colour(const QPalette& palette, double share) {
  const QColor more = is_dark(palette) ? QColor(0xa0, 0x3a, 0x24) : QColor(0xff, 0x9a, 0x70);
  const QColor less = is_dark(palette) ? QColor(0x1f, 0x5f, 0xa8) : QColor(0x8f, 0xc1, 0xff);
  return blend(palette.color(QPalette::Base), share > 0 ? more : less, std::min(std::abs(share), 1.0));
}

QColor change_colour_of_function(double share) {
  const QColor same(0xd8, 0xd8, 0xd8), more(0xf0, 0x70, 0x4a), less(0x62, 0xa0, 0xf2);
  return blend(same, share > 0 ? more : less, std::min(std::abs(share), 1.0));
}

QColor heat_colour(const QPalette& palette, double share) {
  const QColor hot = is_dark(palette) ? QColor(0xa0, 0x3a, 0x24) : QColor(0xff, 0x9a, 0x70);
  return blend(palette.color(QPalette::Base), hot, std::clamp(share, 0.0, 1.0));
}

}  // namespace prof::viewer
