# unmask_room(NAME [DEPENDS...]): the library unmask_NAME from src/NAME/*.cc, and the
# test program NAME_test from src/NAME/*_test.cc. Third-party libraries are
# linked PRIVATE here, to the rooms that own them.
# By name, not path, where the installed library asks its users to link the same.
set(UNMASK_THIRD_PARTY_ingest simdjson::simdjson ZLIB::ZLIB $<BUILD_INTERFACE:${ZSTD_LIBRARY}>
                              $<BUILD_INTERFACE:${LIBZIP_LIBRARY}> $<INSTALL_INTERFACE:zstd> $<INSTALL_INTERFACE:zip>)
set(UNMASK_THIRD_PARTY_environment OpenSSL::Crypto)
set(UNMASK_THIRD_PARTY_llm CURL::libcurl simdjson::simdjson OpenSSL::Crypto)

# A room's llama_*.cc files, compiled apart: llama.cpp's headers come with a JSON library of their own,
# which the room's other files must not see. Without llama.cpp only llama_absent.cc is left of them.
function(unmask_room_with_llama name)
  if(NOT ARGN)
    return()
  endif()
  set(absent ${ARGN})
  list(FILTER absent INCLUDE REGEX "/llama_absent\\.cc$")
  if(NOT UNMASK_WITH_LLAMA)
    target_sources(unmask_${name} PRIVATE ${absent})
    return()
  endif()
  list(REMOVE_ITEM ARGN ${absent})
  add_library(unmask_${name}_llama OBJECT ${ARGN})
  target_link_libraries(unmask_${name}_llama PRIVATE unmask_settings unmask_llama)
  target_link_libraries(unmask_${name} PRIVATE unmask_${name}_llama unmask_llama)
endfunction()

set(UNMASK_THIRD_PARTY_quantize OpenSSL::Crypto)
if(UNMASK_WITH_LLAMA)
  list(APPEND UNMASK_THIRD_PARTY_quantize unmask_llama)
endif()

function(unmask_room name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  set(with_llama ${sources})
  list(FILTER with_llama INCLUDE REGEX "/llama_[a-z_]*\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/llama_[a-z_]*\\.cc$")
  if(NOT sources)
    add_library(unmask_${name} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(unmask_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(unmask_${name} PRIVATE ${UNMASK_THIRD_PARTY_${name}})
    if(UNMASK_UNITY)
      set_target_properties(unmask_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    endif()
  endif()
  target_link_libraries(unmask_${name} ${scope} unmask_settings)
  unmask_room_with_llama(${name} ${with_llama})
  foreach(dependency ${ARGN})
    target_link_libraries(unmask_${name} ${scope} unmask_${dependency})
  endforeach()
  if(tests AND UNMASK_TESTS)
    set_property(GLOBAL APPEND PROPERTY UNMASK_ROOM_TESTS ${name})
    set_property(GLOBAL PROPERTY UNMASK_TESTS_OF_${name} ${tests})
  endif()
endfunction()

# What --version says beside the version.
function(unmask_build_facts)
  set(commit ${PROJECT_BINARY_DIR}/commit.cc)
  add_custom_target(unmask_commit BYPRODUCTS ${commit}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${commit} -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake)
  add_dependencies(unmask unmask_commit)
  target_sources(unmask PRIVATE ${commit})
  set_source_files_properties(${commit} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/app/build_facts.cc PROPERTIES COMPILE_DEFINITIONS
    "UNMASK_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${CMAKE_SYSTEM_PROCESSOR}\";UNMASK_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\";UNMASK_LLAMA_VERSION=\"${UNMASK_LLAMA_VERSION}\";UNMASK_CHARTS_VERSION=\"${UNMASK_CHARTS_VERSION}\"")
endfunction()

# src/audit.cc is the front door of the offline half; src/app is the program.
function(unmask_audit_and_app)
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/audit.cc)
    add_library(unmask_audit STATIC ${PROJECT_SOURCE_DIR}/src/audit.cc ${PROJECT_SOURCE_DIR}/src/arm_shelf.cc ${PROJECT_SOURCE_DIR}/src/facts_collector.cc ${PROJECT_SOURCE_DIR}/src/fragility.cc)
    target_link_libraries(unmask_audit PUBLIC unmask_settings unmask_ingest unmask_failure unmask_metrics unmask_compare
                                              unmask_verdict unmask_report unmask_plant)
  endif()
  file(GLOB app_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/app/*.cc)
  list(FILTER app_sources EXCLUDE REGEX "_test\\.cc$")
  if(app_sources)
    add_executable(unmask ${app_sources})
    target_link_libraries(unmask PRIVATE unmask_audit unmask_environment unmask_llm unmask_quantize unmask_rollout)
    target_compile_definitions(unmask PRIVATE UNMASK_VERSION="${PROJECT_VERSION}")
    unmask_build_facts()
    if(UNMASK_UNITY)
      set_target_properties(unmask PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    endif()
    # The demo's agent is part of the program.
    set(pocket ${PROJECT_SOURCE_DIR}/pocket)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/app/pocket_model.cc PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON
      COMPILE_DEFINITIONS "UNMASK_POCKET_MODEL=\"${pocket}/pocket-dense.gguf\";UNMASK_POCKET_CALIBRATION=\"${pocket}/calibration.jsonl\""
      OBJECT_DEPENDS "${pocket}/pocket-dense.gguf;${pocket}/calibration.jsonl")
    # So are the HTML report's chart libraries, in this order, and the script that draws with them.
    set(chart_script ${PROJECT_SOURCE_DIR}/src/app/draw_charts.js)
    if(UNMASK_WITH_CHARTS)
      set_source_files_properties(${PROJECT_SOURCE_DIR}/src/app/chart_library.cc PROPERTIES
        SKIP_UNITY_BUILD_INCLUSION ON
        COMPILE_DEFINITIONS "UNMASK_CHARTS_FOLDER=\"${vega}\";UNMASK_CHART_SCRIPT=\"${chart_script}\""
        OBJECT_DEPENDS "${vega}/vega.lock;${chart_script}")
    endif()
  endif()
endfunction()
