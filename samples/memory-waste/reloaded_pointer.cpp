// Redundant loads: a loop loads nine coefficients through a pointer again for each pixel, because the stores
// of the pixels could change them as far as the compiler knows. They never change. With FIXED they are copied
// to local variables before the loop.

#include <memory>

#include "rounds.h"

constexpr int kPixels = 1024;

static float pixels[kPixels * 3];

[[gnu::noinline]] static void rotate(float* pixel, const float* matrix) {
#ifdef FIXED
  float copy[9];
  for (int part = 0; part < 9; ++part) copy[part] = matrix[part];
  matrix = copy;
#endif
  for (int left = kPixels; left; --left, pixel += 3) {
    const float red = pixel[0], green = pixel[1], blue = pixel[2];
    pixel[0] = matrix[0] * red + matrix[1] * green + matrix[2] * blue;
    pixel[1] = matrix[3] * red + matrix[4] * green + matrix[5] * blue;
    pixel[2] = matrix[6] * red + matrix[7] * green + matrix[8] * blue;
  }
}

// Turns colors about the gray axis: they change in each round and stay bounded.
static std::unique_ptr<float[]> make_rotation() {
  constexpr float kSame = 0.94737f, kNext = -0.19853f, kLast = 0.25116f;
  return std::unique_ptr<float[]>(
      new float[9]{kSame, kNext, kLast, kLast, kSame, kNext, kNext, kLast, kSame});
}

int main(int argc, char** argv) {
  uint64_t random = 1;
  for (float& part : pixels) {
    random = next_random(random);
    part = static_cast<float>(random >> 40);
  }
  const auto rotation = make_rotation();
  for (uint64_t left = rounds(argc, argv, 700'000); left; --left) rotate(pixels, rotation.get());
  double sum = 0;
  for (const float part : pixels) sum += part;
  print(static_cast<uint64_t>(sum));
}
