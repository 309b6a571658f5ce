# The program and what belongs to it, as the component `program`: what a wheel holds (pyproject.toml).
if(REPRO_MINIFY_BUILT)
  install(PROGRAMS ${REPRO_MINIFY_BUILT}/repro-minify DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  install(CODE "file(RPATH_SET FILE \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/repro-minify\"
    NEW_RPATH [[${program_rpath}]])" COMPONENT program)
else()
  install(TARGETS repro-minify RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()
# The Python side of a backend, found by the program from where it is itself.
install(DIRECTORY backends/inductor DESTINATION ${CMAKE_INSTALL_DATADIR}/repro-minify COMPONENT program
        FILES_MATCHING PATTERN "*.py")
# That which makes TorchScript of other models.
install(DIRECTORY inputs/python/ DESTINATION ${CMAKE_INSTALL_DATADIR}/repro-minify/convert COMPONENT program
        FILES_MATCHING PATTERN "*.py")

# The manual, of the program's own --help, where help2man is installed.
find_program(HELP2MAN help2man)
if(HELP2MAN)
  set(program ${REPRO_MINIFY_BUILT}/repro-minify)
  if(NOT REPRO_MINIFY_BUILT)
    set(program $<TARGET_FILE:repro-minify>)
  endif()
  set(manual ${CMAKE_CURRENT_BINARY_DIR}/repro-minify.1)
  add_custom_command(TARGET repro-minify POST_BUILD COMMENT "Writing the manual" COMMAND ${HELP2MAN} --no-info
    --name "minimises a TorchScript model that a backend gets wrong" --output ${manual} ${program})
  # Of a wheel it goes where the environment has its share/, the rest where the package is.
  set(share_folder ${CMAKE_INSTALL_DATADIR})
  if(SKBUILD)
    set(share_folder ${SKBUILD_DATA_DIR}/share)
  endif()
  install(FILES ${manual} DESTINATION ${share_folder}/man/man1 COMPONENT program)
endif()

# What the package asks before it starts the program (src/python/repro_minify/torch_version.py).
if(SKBUILD)
  file(STRINGS ${TORCH_INSTALL_PREFIX}/version.py built_torch REGEX "^__version__")
  string(REGEX REPLACE "^__version__ *= *['\"]([^'\"]*)['\"].*" "\\1" built_torch "${built_torch}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/built.json "{\"torch\": \"${built_torch}\"}\n")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/built.json DESTINATION . COMPONENT program)
endif()
