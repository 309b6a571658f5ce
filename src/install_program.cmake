# The program and what belongs to it, as the component `program`: what a wheel holds (pyproject.toml).
set(program_folder ${CMAKE_INSTALL_BINDIR})
if(REPRO_MINIFY_BUILT)
  foreach(folder IN LISTS REPRO_MINIFY_BUILT)
    load_cache(${folder} READ_WITH_PREFIX "" REPRO_MINIFY_TORCH)
    set(program_folder ${CMAKE_INSTALL_BINDIR}/${REPRO_MINIFY_TORCH})
    install(PROGRAMS ${folder}/repro-minify DESTINATION ${program_folder} COMPONENT program)
    install(CODE "set(installed \"\${CMAKE_INSTALL_PREFIX}/${program_folder}/repro-minify\")
      file(RPATH_SET FILE \"\${installed}\" NEW_RPATH [[${wheel_rpath}]])
      if(CMAKE_INSTALL_DO_STRIP)
        execute_process(COMMAND ${CMAKE_STRIP} \"\${installed}\" COMMAND_ERROR_IS_FATAL ANY)
      endif()" COMPONENT program)
  endforeach()
  # Whoever hands the wheel on hands on what is inside.
  list(GET REPRO_MINIFY_BUILT 0 folder)
  set(licences ${CMAKE_CURRENT_BINARY_DIR}/licences)
  execute_process(COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/licences.py ${folder} ${licences}
                  COMMAND_ERROR_IS_FATAL ANY)
  install(DIRECTORY ${licences}/ DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT program)
else()
  if(SKBUILD)
    set(program_folder ${CMAKE_INSTALL_BINDIR}/${REPRO_MINIFY_TORCH})
  endif()
  install(TARGETS repro-minify RUNTIME DESTINATION ${program_folder} COMPONENT program)
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
  if(REPRO_MINIFY_BUILT)
    list(GET REPRO_MINIFY_BUILT 0 program) # of several, the first has to start on this machine
    string(APPEND program /repro-minify)
  else()
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

