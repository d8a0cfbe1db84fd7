/* pcie.cu: how fast pinned host memory goes to the device and back: the wall that uploads meet. Prints GB/s up and
 * down, medians of 20 copies of the size given (bytes, default 64 MiB). Build: nvcc -O2 bench/pcie.cu -o pcie */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { COPIES = 21 };

static int by_value(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static double rate(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  cudaEvent_t begin, end;
  float ms[COPIES];
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int i = 0; i < COPIES; i++) {
    cudaEventRecord(begin);
    cudaMemcpyAsync(to, from, bytes, kind);
    cudaEventRecord(end);
    if (cudaEventSynchronize(end) != cudaSuccess || cudaEventElapsedTime(&ms[i], begin, end) != cudaSuccess) exit(1);
  }
  qsort(ms + 1, COPIES - 1, sizeof *ms, by_value); /* the first one warms up */
  return (double)bytes / (ms[1 + COPIES / 2] * 1e6);
}

int main(int argc, char **argv) {
  const size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 64u << 20;
  void *host, *device;
  if (cudaHostAlloc(&host, bytes, 0) != cudaSuccess || cudaMalloc(&device, bytes) != cudaSuccess) {
    fprintf(stderr, "no GPU or no memory\n");
    return 1;
  }
  printf("copies of %zu bytes: up %.1f GB/s, down %.1f GB/s\n", bytes,
         rate(device, host, bytes, cudaMemcpyHostToDevice), rate(host, device, bytes, cudaMemcpyDeviceToHost));
  return 0;
}
