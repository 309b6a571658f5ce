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
install(DIRECTORY convert/python/ DESTINATION ${CMAKE_INSTALL_DATADIR}/repro-minify/convert COMPONENT program
        FILES_MATCHING PATTERN "*.py")

# The manual and completions are made from the options themselves, by the program that has them.
set(help_folder ${CMAKE_CURRENT_BINARY_DIR}/help)
set(program ${REPRO_MINIFY_BUILT}/repro-minify)
if(NOT REPRO_MINIFY_BUILT)
  set(program $<TARGET_FILE:repro-minify>)
endif()
file(MAKE_DIRECTORY ${help_folder})
add_custom_command(TARGET repro-minify POST_BUILD
  COMMAND ${program} --help-as man > ${help_folder}/repro-minify.1
  COMMAND ${program} --help-as bash > ${help_folder}/repro-minify.bash
  COMMAND ${program} --help-as zsh > ${help_folder}/_repro-minify
  COMMAND ${program} --help-as fish > ${help_folder}/repro-minify.fish
  COMMENT "Writing the manual and completions")
# Of a wheel these go where the environment has its share/, the rest where the package is.
set(share_folder ${CMAKE_INSTALL_DATADIR})
if(SKBUILD)
  set(share_folder ${SKBUILD_DATA_DIR}/share)
endif()
install(FILES ${help_folder}/repro-minify.1 DESTINATION ${share_folder}/man/man1 COMPONENT program)
install(FILES ${help_folder}/repro-minify.bash DESTINATION ${share_folder}/bash-completion/completions
        RENAME repro-minify COMPONENT program)
install(FILES ${help_folder}/_repro-minify DESTINATION ${share_folder}/zsh/site-functions COMPONENT program)
install(FILES ${help_folder}/repro-minify.fish DESTINATION ${share_folder}/fish/vendor_completions.d
        COMPONENT program)

# What the package asks before it starts the program (src/python/repro_minify/torch_version.py).
if(SKBUILD)
  file(STRINGS ${TORCH_INSTALL_PREFIX}/version.py built_torch REGEX "^__version__")
  string(REGEX REPLACE "^__version__ *= *['\"]([^'\"]*)['\"].*" "\\1" built_torch "${built_torch}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/built.json "{\"torch\": \"${built_torch}\"}\n")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/built.json DESTINATION . COMPONENT program)
endif()
