# The versions of LibTorch that this is tested with (scripts/versions.py): from the oldest to the newest.
set(OLDEST_TESTED_TORCH 2.12)
set(NEWEST_TESTED_TORCH 2.15)

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
