# Finds LibTorch: TORCH_LIBRARIES, TORCH_INCLUDE_DIRS, TORCH_INSTALL_PREFIX.
#
# The TorchConfig.cmake of a CUDA LibTorch asks for the CUDA toolkit, its compiler included, which nothing here needs.
# Where there is none, the libraries are taken as they lie beside it.
get_filename_component(torch_prefix "${Torch_DIR}/../../.." ABSOLUTE)
find_program(NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)

if(NOT EXISTS "${torch_prefix}/lib/libtorch_cuda.so" OR NVCC)
  find_package(Torch REQUIRED)
  return()
endif()

message(STATUS "Found a CUDA LibTorch and no CUDA toolkit: linking ${torch_prefix}/lib as it is")
set(TORCH_INSTALL_PREFIX "${torch_prefix}")
set(TORCH_INCLUDE_DIRS "${torch_prefix}/include" "${torch_prefix}/include/torch/csrc/api/include")
# torch_cuda registers its kernels when it is loaded; nobody calls it by name.
set(TORCH_LIBRARIES "-L${torch_prefix}/lib" "-Wl,-rpath,${torch_prefix}/lib" "-Wl,--unresolved-symbols=ignore-in-shared-libs"
    "-Wl,--no-as-needed" torch torch_cpu torch_cuda c10 c10_cuda "-Wl,--as-needed")
