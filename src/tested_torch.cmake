# The versions of LibTorch that this is tested with (scripts/versions.py): from the oldest to the newest.
set(OLDEST_TESTED_TORCH 2.12)
set(NEWEST_TESTED_TORCH 2.15)

# Sets `result` to the name of a program for the LibTorch whose TorchConfig.cmake lies in `folder`: "2.13" for every
# 2.13.x, as their headers are the same (docs/notes/one-wheel.md); the whole version of one that is no release.
function(interface_of_torch folder result)
  include("${folder}/TorchConfigVersion.cmake")
  set(version "${PACKAGE_VERSION}")
  if(EXISTS "${folder}/../../../version.py")
    file(STRINGS "${folder}/../../../version.py" version REGEX "^__version__")
    string(REGEX REPLACE "^__version__ *= *['\"]([^'\"]*)['\"].*" "\\1" version "${version}")
  endif()
  string(REGEX REPLACE "^([0-9]+\\.[0-9]+)\\.[0-9]+(\\+.*)?$" "\\1" version "${version}")
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Says so where the LibTorch whose TorchConfig.cmake lies in `folder` is another one. It is used all the same.
function(say_whether_torch_is_tested folder)
  include("${folder}/TorchConfigVersion.cmake")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" version "${PACKAGE_VERSION}")
  if(version VERSION_GREATER NEWEST_TESTED_TORCH)
    set(stands "newer than ${NEWEST_TESTED_TORCH}, the newest")
  elseif(version VERSION_LESS OLDEST_TESTED_TORCH)
    set(stands "older than ${OLDEST_TESTED_TORCH}, the oldest")
  else()
    return()
  endif()
  message(WARNING "LibTorch ${PACKAGE_VERSION} is ${stands} that repro-minify is tested with: it may not build, and "
          "bisect may not know the steps of a backend.")
endfunction()
