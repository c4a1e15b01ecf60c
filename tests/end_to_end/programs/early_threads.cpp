// A program whose library starts a thread before anything else runs.

extern "C" void early();

int main() {
  early();
}
