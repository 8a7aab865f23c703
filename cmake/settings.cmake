# Compiler settings shared by every target.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json QUIET)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(CURL REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_path(NLOHMANN_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
find_path(VALIJSON_INCLUDE valijson/validator.hpp REQUIRED)
find_path(ZSTD_INCLUDE zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
find_path(LIBZIP_INCLUDE zip.h REQUIRED)
find_library(LIBZIP_LIBRARY zip REQUIRED)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# Compiling a few files of a room as one halves the time of a build from nothing. Off for
# `make clang` and `tools/lint.sh --apart`, where every file must stand by itself.
option(UNMASK_UNITY "compile several files of a room as one" OFF)

find_program(LLD ld.lld)
# What users of the installed library get, and what only the build here does.
add_library(unmask_settings INTERFACE)
add_library(unmask_build_settings INTERFACE)
target_link_libraries(unmask_settings INTERFACE $<BUILD_INTERFACE:unmask_build_settings>)
target_include_directories(unmask_settings INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                     $<INSTALL_INTERFACE:include/unmask>)
target_compile_features(unmask_settings INTERFACE cxx_std_20)
target_compile_options(unmask_build_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                                 -Wnon-virtual-dtor -Woverloaded-virtual)
# g++-12 warns wrongly about std::string and fmt inside its own optimizer's output (GCC PR 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(unmask_build_settings INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
# Compiled as one file, types of an anonymous namespace look as if a header held them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND UNMASK_UNITY)
  target_compile_options(unmask_build_settings INTERFACE -Wno-subobject-linkage)
endif()
# Likewise names of anonymous namespaces look as if they hid each other.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND UNMASK_UNITY)
  target_compile_options(unmask_build_settings INTERFACE -Wno-shadow)
endif()
if(LLD)
  target_link_options(unmask_build_settings INTERFACE -fuse-ld=lld)
endif()
if(UNMASK_SANITIZE)
  target_compile_options(unmask_build_settings INTERFACE -fsanitize=${UNMASK_SANITIZE} -fno-sanitize-recover=all
                                                   -fno-omit-frame-pointer)
  target_link_options(unmask_build_settings INTERFACE -fsanitize=${UNMASK_SANITIZE})
endif()
if(UNMASK_FUZZ)
  target_compile_options(unmask_build_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_link_libraries(unmask_settings INTERFACE Threads::Threads fmt::fmt)
