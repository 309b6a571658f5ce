# Finds LibTorch: TORCH_LIBRARIES, TORCH_INCLUDE_DIRS, TORCH_INSTALL_PREFIX.
#
# The TorchConfig.cmake of a CUDA LibTorch asks for a whole CUDA toolkit that suits CMake's version, compiler included.
# No file here is compiled with CUDA, so its libraries are taken as they lie beside it.
if(NOT Torch_DIR)
  # As find_package() would, but before it reads the file.
  set(torch_folders ${CMAKE_PREFIX_PATH} $ENV{CMAKE_PREFIX_PATH} $ENV{Torch_DIR})
  string(REPLACE ":" ";" torch_folders "${torch_folders}")
  foreach(folder IN LISTS torch_folders)
    foreach(below "" /Torch /share/cmake/Torch)
      if(NOT Torch_DIR AND EXISTS "${folder}${below}/TorchConfig.cmake")
        set(Torch_DIR "${folder}${below}" CACHE PATH "The folder of TorchConfig.cmake" FORCE)
      endif()
    endforeach()
  endforeach()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/tested_torch.cmake")
get_filename_component(torch_prefix "${Torch_DIR}/../../.." ABSOLUTE)
if(NOT EXISTS "${torch_prefix}/lib/libtorch_cuda.so")
  find_package(Torch REQUIRED)
  say_whether_torch_is_tested("${Torch_DIR}")
  return()
endif()

say_whether_torch_is_tested("${Torch_DIR}")
message(STATUS "Found a LibTorch with CUDA: ${torch_prefix}")
set(TORCH_INSTALL_PREFIX "${torch_prefix}")
set(TORCH_INCLUDE_DIRS "${torch_prefix}/include" "${torch_prefix}/include/torch/csrc/api/include")
# torch_cuda is loaded by program/operator_libraries.cpp where a device asks for it, so that a program runs beside every
# build of a version, whichever it was linked with. The C++ library comes before all:
# LibTorch 2.11 exports parts of an older one (std::filesystem::remove_all is a null call there). It is named by its
# file, as a compiler that links it statically would make a second one beside LibTorch's.
# The libraries are named by their paths: CMake then finds them in a build folder, and leaves no path of this machine in
# a wheel.
set(TORCH_LIBRARIES "-Wl,--unresolved-symbols=ignore-in-shared-libs" "-l:libstdc++.so.6")
foreach(library IN ITEMS torch torch_cpu c10)
  list(APPEND TORCH_LIBRARIES "${torch_prefix}/lib/lib${library}.so")
endforeach()
