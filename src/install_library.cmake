# The library for other projects: headers, archives, and a CMake package (docs/library_example uses it).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/repro_minify)
install(TARGETS repro_minify_core repro_minify_codegen repro_minify_inductor_like repro_minify
        EXPORT repro_minify ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/repro_minify DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT repro_minify NAMESPACE repro_minify:: FILE repro_minify-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(repro_minify-config.cmake.in ${PROJECT_BINARY_DIR}/repro_minify-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/repro_minify-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/repro_minify-config.cmake ${PROJECT_BINARY_DIR}/repro_minify-config-version.cmake
              find_torch.cmake tested_torch.cmake DESTINATION ${package_folder})
