# cmake --install, and packages by CPack:
#   bin/unmask                       finds llama.cpp in ../lib/unmask, wherever the prefix is moved
#   lib/unmask/*.so                  llama.cpp's libraries, where the build has them
#   lib/libunmask_*.a, include/unmask/, lib/cmake/unmask/     the offline half: find_package(unmask), unmask::audit
#   share/man, share/bash-completion, share/zsh, share/fish    written by the program itself
#   share/doc/unmask                 README, CHANGELOG, GLOSSARY, docs/, licences
# Components: program, library.
# What is installed is built by name: `make package` needs no test.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(UNMASK_OFFLINE_ROOMS base trace stats ingest failure metrics compare verdict report plant)
set(share_doc share/doc/unmask)

# The program.
set_target_properties(unmask PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/unmask")
install(TARGETS unmask RUNTIME DESTINATION bin COMPONENT program)
if(UNMASK_WITH_LLAMA)
  file(GLOB llama_shared ${llama_libraries}/libllama*.so* ${llama_libraries}/libggml*.so*)
  install(FILES ${llama_shared} DESTINATION lib/unmask COMPONENT program)
  if(EXISTS ${llama_source}/LICENSE)
    install(FILES ${llama_source}/LICENSE DESTINATION ${share_doc} COMPONENT program RENAME LICENSE.llama.cpp)
  endif()
endif()

# What the program writes about itself; by running it, so not where it was built for another machine.
if(NOT CMAKE_CROSSCOMPILING)
  set(texts ${PROJECT_BINARY_DIR}/texts)
  add_custom_command(OUTPUT ${texts}/unmask.1 ${texts}/unmask ${texts}/_unmask ${texts}/unmask.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${texts}
    COMMAND unmask man > ${texts}/unmask.1
    COMMAND unmask completions bash > ${texts}/unmask
    COMMAND unmask completions zsh > ${texts}/_unmask
    COMMAND unmask completions fish > ${texts}/unmask.fish
    DEPENDS unmask VERBATIM)
  add_custom_target(unmask_texts ALL DEPENDS ${texts}/unmask.1)
  install(FILES ${texts}/unmask.1 DESTINATION share/man/man1 COMPONENT program)
  install(FILES ${texts}/unmask DESTINATION share/bash-completion/completions COMPONENT program)
  install(FILES ${texts}/_unmask DESTINATION share/zsh/vendor-completions COMPONENT program)
  install(FILES ${texts}/unmask.fish DESTINATION share/fish/vendor_completions.d COMPONENT program)
endif()
install(FILES README.md CHANGELOG.md GLOSSARY.md ARCHITECTURE.md DESTINATION ${share_doc} COMPONENT program)
install(FILES LICENSE DESTINATION ${share_doc} COMPONENT program RENAME copyright)
install(DIRECTORY docs DESTINATION ${share_doc} COMPONENT program)

# The library: what src/audit.h needs.
set(exported unmask_settings unmask_audit)
foreach(room ${UNMASK_OFFLINE_ROOMS})
  list(APPEND exported unmask_${room})
  install(DIRECTORY src/${room} DESTINATION include/unmask COMPONENT library FILES_MATCHING PATTERN "*.h" PATTERN "*_for_tests.h" EXCLUDE
          PATTERN "*_samples.h" EXCLUDE)
endforeach()
install(FILES src/audit.h DESTINATION include/unmask COMPONENT library)
foreach(target ${exported})
  string(REPLACE unmask_ "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${exported} EXPORT unmask ARCHIVE DESTINATION lib COMPONENT library)
install(EXPORT unmask NAMESPACE unmask:: FILE unmask-targets.cmake DESTINATION lib/cmake/unmask COMPONENT library)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/unmask-config.cmake.in ${PROJECT_BINARY_DIR}/unmask-config.cmake
                              INSTALL_DESTINATION lib/cmake/unmask)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/unmask-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/unmask-config.cmake ${PROJECT_BINARY_DIR}/unmask-config-version.cmake
        DESTINATION lib/cmake/unmask COMPONENT library)

# Packages: the program alone. `make package` writes the .deb and a .tar.gz of the same files.
set(CPACK_PACKAGE_NAME unmask)
set(CPACK_PACKAGE_VENDOR "The unmask authors")
set(UNMASK_PACKAGE_CONTACT "The unmask authors <unmask@localhost>" CACHE STRING "who answers for a package that is given away")
set(CPACK_PACKAGE_CONTACT ${UNMASK_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "find the damage that a flat benchmark score hides in quantized LLM agents")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${llama_libraries})
set(CPACK_PACKAGE_FILE_NAME unmask-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
include(CPack)
