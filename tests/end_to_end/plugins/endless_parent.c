/* For LD_PRELOAD: a program whose main thread computes for ever where it should have written its next line. It does so
   from the moment on that the file which ENDLESS_PARENT names is there; a file of that name with ".computing" behind it
   says that it has begun, one with ".over" that it came to an end. What the program has forked goes on as usual. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static char go[4096];
static pid_t program;

__attribute__((constructor)) static void read_environment(void) {
  const char *name = getenv("ENDLESS_PARENT");
  snprintf(go, sizeof go, "%s", name ? name : "");
  program = getpid();
  unsetenv("LD_PRELOAD");
  unsetenv("ENDLESS_PARENT");
}

static void leave(const char *ending) {
  char path[4200];
  snprintf(path, sizeof path, "%s%s", go, ending);
  close(open(path, O_WRONLY | O_CREAT, 0600));
}

ssize_t write(int file, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "write");
  if (go[0] && syscall(SYS_gettid) == program && access(go, F_OK) == 0) {
    leave(".computing");
    for (volatile unsigned long steps = 1; steps; ++steps)
      ;
    leave(".over");
  }
  return real(file, bytes, count);
}
