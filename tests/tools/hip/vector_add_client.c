/* A HIP client in C, as a program for ROCm is written: nothing but the HIP headers. Exit code 0 if
 * the device's result is right. */
#include <hip/hip_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    hipError_t code = (call);                                                                      \
    if (code != hipSuccess) {                                                                      \
      fprintf(stderr, "%s: %s (%s)\n", #call, hipGetErrorName(code), hipGetErrorString(code));     \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

enum { elements = 5000 };

int main(int argc, char **argv) {
  static float a[elements], b[elements], out[elements];
  float *da, *db, *dout, scale = 2.0f;
  unsigned n = elements;
  if (argc != 2) {
    fprintf(stderr, "usage: %s KERNELS.hsaco\n", argv[0]);
    return 2;
  }
  for (int i = 0; i < elements; ++i) {
    a[i] = (float)i;
    b[i] = (float)(elements - i);
  }
  CHECK(hipInit(0));
  hipDeviceProp_t prop;
  CHECK(hipGetDeviceProperties(&prop, 0));
  printf("%s, %s\n", prop.name, prop.gcnArchName);

  hipModule_t module;
  hipFunction_t function;
  hipStream_t stream;
  CHECK(hipModuleLoad(&module, argv[1]));
  CHECK(hipModuleGetFunction(&function, module, "vector_add"));
  CHECK(hipStreamCreate(&stream));
  CHECK(hipMalloc((void **)&da, sizeof a));
  CHECK(hipMalloc((void **)&db, sizeof b));
  CHECK(hipMalloc((void **)&dout, sizeof out));
  CHECK(hipMemcpyAsync(da, a, sizeof a, hipMemcpyHostToDevice, stream));
  CHECK(hipMemcpyAsync(db, b, sizeof b, hipMemcpyHostToDevice, stream));
  void *params[] = {&da, &n, &db, &dout, &scale};
  CHECK(hipModuleLaunchKernel(function, (elements + 63) / 64, 1, 1, 64, 1, 1, 0, stream, params,
                              NULL));
  CHECK(hipMemcpyAsync(out, dout, sizeof out, hipMemcpyDeviceToHost, stream));
  CHECK(hipStreamSynchronize(stream));
  for (int i = 0; i < elements; ++i)
    if (out[i] != 2.0f * a[i] + b[i]) {
      fprintf(stderr, "element %d: expected %g, found %g\n", i, 2.0f * a[i] + b[i], out[i]);
      return 1;
    }
  CHECK(hipFree(da));
  CHECK(hipFree(db));
  CHECK(hipFree(dout));
  CHECK(hipStreamDestroy(stream));
  CHECK(hipModuleUnload(module));
  printf("%d elements right\n", elements);
  return 0;
}
