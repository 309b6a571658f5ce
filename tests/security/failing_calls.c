/* For LD_PRELOAD: system calls that fail as they would on a machine in trouble.

   FAILING_CALL=write:5:ENOSPC fails the fifth call of write() in this process and all it forks, and :all behind it each
   from the fifth on. FORKS=FILE counts the calls of fork() in FILE, which has room for an int, FAILED=FILE those that
   are made to fail. Programs that are started from there are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char wanted[32];
static int wanted_number, wanted_error, all_from_there;
static int *calls; /* shared with what is forked */
static int *forks, *failed; /* and with who has made the file */

static void *shared_int(int flags, int file) {
  void *mapped = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
  return mapped == MAP_FAILED ? NULL : mapped;
}

/* Null where the environment names no file. */
static int *counter(const char *variable) {
  const char *path = getenv(variable);
  const int file = path ? open(path, O_RDWR) : -1;
  if (file < 0)
    return NULL;
  int *number = shared_int(0, file);
  close(file);
  return number;
}

static const struct {
  const char *name;
  int number;
} errors[] = {{"ENOSPC", ENOSPC}, {"EAGAIN", EAGAIN}, {"EIO", EIO},     {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM},
              {"EACCES", EACCES}, {"EROFS", EROFS},   {"EINTR", EINTR}, {"EDQUOT", EDQUOT}};

__attribute__((constructor)) static void read_environment(void) {
  const char *text = getenv("FAILING_CALL");
  char error[16] = "", all[8] = "";
  if (!text || sscanf(text, "%31[^:]:%d:%15[^:]:%7s", wanted, &wanted_number, error, all) < 3)
    wanted[0] = '\0';
  all_from_there = strcmp(all, "all") == 0;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (strcmp(errors[i].name, error) == 0)
      wanted_error = errors[i].number;
  forks = counter("FORKS");
  failed = counter("FAILED");
  calls = shared_int(MAP_ANONYMOUS, -1); /* last: from here on calls fail */
  unsetenv("LD_PRELOAD");
  unsetenv("FAILING_CALL");
  unsetenv("FORKS");
  unsetenv("FAILED");
}

static int fails(const char *name) {
  if (!calls || strcmp(name, wanted) != 0)
    return 0;
  const int number = __atomic_add_fetch(calls, 1, __ATOMIC_SEQ_CST);
  if (number < wanted_number || (number > wanted_number && !all_from_there))
    return 0;
  if (failed)
    __atomic_add_fetch(failed, 1, __ATOMIC_SEQ_CST);
  errno = wanted_error;
  return 1;
}

/* The C library's own function, under the same name but for `group`, which the environment names. */
#define FAILING(type, group, name, parameters, arguments)                                                              \
  type name parameters {                                                                                               \
    static type(*real) parameters;                                                                                     \
    if (!real)                                                                                                         \
      real = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                                              \
    return fails(group) ? (type)-1 : real arguments;                                                                   \
  }

static pid_t counted_fork(void) {
  if (forks)
    __atomic_add_fetch(forks, 1, __ATOMIC_SEQ_CST);
  return ((pid_t(*)(void))dlsym(RTLD_NEXT, "fork"))();
}

pid_t fork(void) {
  return fails("fork") ? -1 : counted_fork();
}

FAILING(ssize_t, "write", write, (int file, const void *data, size_t size), (file, data, size))
FAILING(ssize_t, "read", read, (int file, void *data, size_t size), (file, data, size))
FAILING(int, "mkdir", mkdir, (const char *path, mode_t mode), (path, mode))
FAILING(int, "mkdir", mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
FAILING(int, "rename", rename, (const char *from, const char *to), (from, to))
FAILING(int, "rename", renameat, (int there, const char *from, int here, const char *to), (there, from, here, to))
FAILING(int, "fsync", fsync, (int file), (file))
FAILING(int, "ftruncate", ftruncate, (int file, off_t size), (file, size))
FAILING(int, "unlink", unlink, (const char *path), (path))
FAILING(int, "pipe", pipe2, (int files[2], int flags), (files, flags))
FAILING(int, "pipe", pipe, (int files[2]), (files))
FAILING(int, "socket", socketpair, (int domain, int type, int protocol, int files[2]), (domain, type, protocol, files))

void *mmap64(void *where, size_t size, int protection, int flags, int file, off64_t offset);

/* Of shared memory alone: the allocator's own is for RLIMIT_AS. */
static void *mapped(void *where, size_t size, int protection, int flags, int file, off64_t offset) {
  static void *(*real)(void *, size_t, int, int, int, off64_t);
  if (!real)
    real = (void *(*)(void *, size_t, int, int, int, off64_t))dlsym(RTLD_NEXT, "mmap64");
  return (flags & MAP_SHARED) && fails("mmap") ? MAP_FAILED : real(where, size, protection, flags, file, offset);
}

void *mmap(void *where, size_t size, int protection, int flags, int file, off_t offset) {
  return mapped(where, size, protection, flags, file, offset);
}

void *mmap64(void *where, size_t size, int protection, int flags, int file, off64_t offset) {
  return mapped(where, size, protection, flags, file, offset);
}

#define OPENING(name, parameters, arguments)                                                                           \
  int name parameters {                                                                                                \
    static int (*real)();                                                                                              \
    if (!real)                                                                                                         \
      real = (int (*)())dlsym(RTLD_NEXT, #name);                                                                       \
    va_list rest;                                                                                                      \
    va_start(rest, flags);                                                                                             \
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                      \
    va_end(rest);                                                                                                      \
    if (fails(flags & (O_WRONLY | O_RDWR) ? "open-to-write" : "open"))                                                 \
      return -1;                                                                                                       \
    return real arguments;                                                                                             \
  }

OPENING(open, (const char *path, int flags, ...), (path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENING(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENING(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

/* libstdc++ writes and reads files by these; it opens them by fopen64() or open(). */
FILE *fopen64(const char *path, const char *mode);

static FILE *opened(const char *name, const char *path, const char *mode) {
  FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, name);
  return fails(strchr(mode, 'r') ? "open" : "open-to-write") ? NULL : real(path, mode);
}

FILE *fopen(const char *path, const char *mode) {
  return opened("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
  return opened("fopen64", path, mode);
}

struct iovec;
FAILING(ssize_t, "write", writev, (int file, const struct iovec *parts, int count), (file, parts, count))
