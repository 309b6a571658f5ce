# cmake -DHEADER=FILE -DSOURCES=FOLDER -P commit.cmake: which commit FOLDER is at, as a header, written where it is
# another than before. Without git, or outside of a clone, it is unknown.
execute_process(COMMAND git -C ${SOURCES} describe --always --abbrev=12 --dirty=-changed --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define REPRO_MINIFY_COMMIT \"${commit}\"\n" @ONLY)
