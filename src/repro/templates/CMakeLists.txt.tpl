cmake_minimum_required(VERSION 3.18)
project(repro LANGUAGES CXX)
{{#runs_python}}
add_executable(repro repro.cpp)
{{/runs_python}}
{{#cuda}}
# The TorchConfig.cmake of a LibTorch with CUDA asks for a CUDA toolkit, compiler included; repro.cpp needs none.
find_path(TORCH_INCLUDE torch/script.h PATH_SUFFIXES include ../../include REQUIRED)
get_filename_component(TORCH_LIB "${TORCH_INCLUDE}/../lib" ABSOLUTE)
add_executable(repro repro.cpp)
target_include_directories(repro SYSTEM PRIVATE ${TORCH_INCLUDE} ${TORCH_INCLUDE}/torch/csrc/api/include)
# The C++ library by the name of its shared one: a compiler that links it statically would make a second one beside
# LibTorch's.
target_link_libraries(repro -L${TORCH_LIB} -Wl,-rpath,${TORCH_LIB} -Wl,--unresolved-symbols=ignore-in-shared-libs
                      -Wl,--no-as-needed -l:libstdc++.so.6 torch torch_cpu torch_cuda c10 c10_cuda)
{{/cuda}}
{{#cpu}}
find_package(Torch REQUIRED)
add_executable(repro repro.cpp)
target_link_libraries(repro ${TORCH_LIBRARIES})
{{/cpu}}
set_target_properties(repro PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
{{#has_operators}}
# For the libraries of operators that lie beside repro.cpp, which loads them itself.
target_link_libraries(repro ${CMAKE_DL_LIBS})
{{/has_operators}}
{{#libraries}}
target_link_libraries(repro {{value:x-source}})
{{/libraries}}
