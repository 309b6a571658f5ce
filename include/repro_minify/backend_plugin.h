/* What a shared library has to define to be a backend: `repro-minify MODEL --backend plugin:PATH.so`.
 *
 * Plain C, and nothing in here changes while REPRO_MINIFY_BACKEND_ABI stays the same: a plugin is built without
 * repro-minify and works with any later one that says the same number. docs/backends.md explains how to write one.
 *
 * Tensors cross as DLPack has them (https://dmlc.github.io/dlpack, struct DLManagedTensor: data pointer, device, dtype,
 * ndim, shape, and strides in elements). LibTorch's copy of its header is <ATen/dlpack.h>; any other will do. The
 * program crosses as the bytes of a TorchScript archive, what torch::jit::load and torch.jit.load read.
 *
 * All functions are called from one thread, in a process of their own for each check, with the time and memory limits
 * of that check. A process that crashes, hangs or exhausts memory in a plugin is a failure like any other. No C++
 * exception may leave a function. The library is never unloaded. */
#ifndef REPRO_MINIFY_BACKEND_PLUGIN_H
#define REPRO_MINIFY_BACKEND_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define REPRO_MINIFY_BACKEND_ABI 1

#if defined(__GNUC__)
#define REPRO_MINIFY_BACKEND_EXPORT __attribute__((visibility("default")))
#else
#define REPRO_MINIFY_BACKEND_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;
/* A compiled program; what is in it is the plugin's own affair. */
struct repro_minify_compiled;

/* REPRO_MINIFY_BACKEND_ABI as it was when the plugin was built. Nothing else is called if it is not ours. */
REPRO_MINIFY_BACKEND_EXPORT uint32_t repro_minify_backend_abi(void);

/* Name and version of the backend, for reports: UTF-8, not NULL. They live as long as the library. */
REPRO_MINIFY_BACKEND_EXPORT const char *repro_minify_backend_name(void);
REPRO_MINIFY_BACKEND_EXPORT const char *repro_minify_backend_version(void);

/* Why the last call that returned something else than 0 did so: UTF-8, not NULL; lives until the next call. It becomes
 * the message of the failure, and its first line is part of what tells two failures apart: leave out what is different
 * in each run. */
REPRO_MINIFY_BACKEND_EXPORT const char *repro_minify_backend_last_error(void);

/* Compiles the method `forward` of an archive.
 *
 * archive, archive_bytes  the TorchScript archive, in eval mode. Borrowed: gone after the call.
 * inputs, input_count     the arguments of the first run, in forward's order: all of them are tensors. Borrowed; they
 *                         may have any strides, and must not be written to.
 * compiled                where to put the result, which the caller gives to repro_minify_backend_free.
 *
 * Returns 0, or anything else for an error; then *compiled is left alone. */
REPRO_MINIFY_BACKEND_EXPORT int repro_minify_backend_compile(const void *archive, size_t archive_bytes,
                                                             struct DLManagedTensor *const *inputs, size_t input_count,
                                                             struct repro_minify_compiled **compiled);

/* Runs it. Called several times, with arguments of the same shapes.
 *
 * inputs, input_count    the arguments. Borrowed: neither they nor their memory may be used after the call, though a
 *                        result may share that memory. What the program writes to its arguments has to be written to
 *                        them: it is compared too.
 * outputs, output_count  where to put what forward returns: one tensor, or for a tuple each element, depth first. An
 *                        integer, float or bool is a tensor of no dimensions. There is room for exactly as many as
 *                        forward's return type says, each NULL before the call. The caller owns them afterwards and
 *                        calls the `deleter` of each once, which may be after repro_minify_backend_free; a result may
 *                        share memory with inputs, with others, and with what the next run returns.
 *
 * Returns 0, or anything else for an error; then the plugin keeps what it has made, and outputs do not count. */
REPRO_MINIFY_BACKEND_EXPORT int repro_minify_backend_run(struct repro_minify_compiled *compiled,
                                                         struct DLManagedTensor *const *inputs, size_t input_count,
                                                         struct DLManagedTensor **outputs, size_t output_count);

/* Ends the life of what repro_minify_backend_compile made. */
REPRO_MINIFY_BACKEND_EXPORT void repro_minify_backend_free(struct repro_minify_compiled *compiled);

#ifdef __cplusplus
}
#endif

#endif
