/* A plugin that is wrong in one way, in plain C: which one is chosen when it is compiled. */
#include "repro_minify/backend_plugin.h"

#include <signal.h>

uint32_t repro_minify_backend_abi(void) {
#ifdef ODD_VERSION
  return REPRO_MINIFY_BACKEND_ABI + 1;
#else
  return REPRO_MINIFY_BACKEND_ABI;
#endif
}

const char *repro_minify_backend_name(void) {
  return "odd";
}

const char *repro_minify_backend_version(void) {
  return "1";
}

const char *repro_minify_backend_last_error(void) {
  return "the odd compiler gives up";
}

int repro_minify_backend_compile(const void *archive, size_t archive_bytes, struct DLManagedTensor *const *inputs,
                                 size_t input_count, struct repro_minify_compiled **compiled) {
  (void)archive, (void)archive_bytes, (void)inputs, (void)input_count, (void)compiled;
  return 1;
}

#ifndef ODD_WITHOUT_RUN
int repro_minify_backend_run(struct repro_minify_compiled *compiled, struct DLManagedTensor *const *inputs,
                             size_t input_count, struct DLManagedTensor **outputs, size_t output_count) {
  (void)compiled, (void)inputs, (void)input_count, (void)outputs, (void)output_count;
  return 1;
}
#endif

void repro_minify_backend_free(struct repro_minify_compiled *compiled) {
  (void)compiled;
}

#ifdef ODD_CRASH
__attribute__((constructor)) static void crash(void) {
  raise(SIGSEGV);
}
#endif
