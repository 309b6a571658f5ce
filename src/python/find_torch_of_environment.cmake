# A wheel is built against the torch of the environment that `pip install .` or `pip wheel .` runs in: sets Torch_DIR.
find_package(Python REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/python/torch_of_environment.py
                OUTPUT_VARIABLE torch_of_environment OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT torch_of_environment)
  message(FATAL_ERROR "repro-minify: no torch in the environment of ${Python_EXECUTABLE}, against which this is built. "
          "Install torch first (the version that fails); where the build runs in an environment of its own "
          "(uv, python -m build), add --no-build-isolation with scikit-build-core installed, or name the folder of "
          "TorchConfig.cmake: -C cmake.define.Torch_DIR=...")
endif()
set(Torch_DIR ${torch_of_environment}/share/cmake/Torch)
message(STATUS "Building against ${torch_of_environment}")
