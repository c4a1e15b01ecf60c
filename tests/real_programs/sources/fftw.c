/* Transforms by FFTW's threads. */
#include <fftw3.h>
#include <stdio.h>

int main(void) {
  enum { N = 1 << 18, ROUNDS = 150 };
  fftw_init_threads();
  fftw_plan_with_nthreads(2);
  fftw_complex* a = fftw_malloc(N * sizeof *a);
  fftw_complex* b = fftw_malloc(N * sizeof *b);
  fftw_plan there = fftw_plan_dft_1d(N, a, b, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_plan back = fftw_plan_dft_1d(N, b, a, FFTW_BACKWARD, FFTW_ESTIMATE);
  for (int i = 0; i < N; ++i) a[i][0] = i % 1009, a[i][1] = i % 31;
  for (int round = 0; round < ROUNDS; ++round) {
    fftw_execute(there);
    fftw_execute(back);
    for (int i = 0; i < N; ++i) a[i][0] /= N, a[i][1] /= N;
  }
  printf("%.6f %.6f %.3f\n", a[12345][0], a[54321][1], b[777][0]);
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_cleanup_threads();
  return 0;
}
