#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  enum { N = 2000000 };
  double* a = malloc(N * sizeof *a);
  unsigned long hits = 0;
#pragma omp parallel for schedule(dynamic, 1000)
  for (int i = 0; i < N; ++i) a[i] = i * 0.5;
  for (int round = 0; round < 200; ++round) {
#pragma omp parallel for reduction(+ : hits)
    for (int i = 1; i < N - 1; ++i) hits += (unsigned long)(a[i - 1] + a[i + 1]) % 7 == 3;
  }
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 100; ++t) {
#pragma omp task
    {
#pragma omp atomic
      ++hits;
    }
  }
  printf("%lu\n", hits);
  free(a);
  return 11;
}
