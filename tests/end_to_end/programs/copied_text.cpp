// Copies a string for each character that it appends. Nearly all its time is in library code, because of one
// line.
#include <cstdio>
#include <string>

std::string unquoted(const std::string& text) {
  std::string out;
  for (const char c : text) out = out + c;  // The line that the summary has to name.
  return out;
}

int main() {
  const std::string text(4000, 'x');
  size_t length = 0;
  for (int turn = 0; turn < 400; ++turn) length += unquoted(text).size();
  std::printf("%zu\n", length);
}
