// Brings the pretended CUDA device (device/hooks.cpp) into each process that has LibTorch: LD_PRELOAD it. A build has
// many processes that know nothing of LibTorch, and would take half a second each to load it. Python, which loads
// LibTorch by itself, asks for the device (sitecustomize.py).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pretended_cuda_load(void) {
  Dl_info here;
  char folder[PATH_MAX], device[PATH_MAX + 32];
  if (!dladdr((void *)pretended_cuda_load, &here) || strlen(here.dli_fname) >= sizeof folder)
    abort();
  strcpy(folder, here.dli_fname);
  snprintf(device, sizeof device, "%s/pretended_cuda_device.so", dirname(folder));
  if (!dlopen(device, RTLD_NOW | RTLD_GLOBAL)) {
    fprintf(stderr, "%s\n", dlerror());
    abort();
  }
}

__attribute__((constructor)) static void load_where_libtorch_is(void) {
  if (dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD))
    pretended_cuda_load();
}
