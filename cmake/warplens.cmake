# How warplens builds its libraries, collectors, tests and fuzzers.
#
#   wl_library(<folder> SOURCES ... [DEPS <folder> ...] [LINK <target> ...])
#       static, position-independent library wl_<folder>; DEPS are folders of src/, LINK any other target.
#       Without SOURCES a folder of headers and tables.
#   wl_collector(<name> SOURCES ... [DEPS ...] [LINK ...] [MAP <version script>] [FOLDER <name>])
#       shared library lib/warplens/[<folder>/]lib<name>.so that exports what MAP names and nothing that it links.
#   wl_test(<name> SOURCES ... [DEPS ...] [LINK ...] [LABELS ...] [ARGS ...] [TIMEOUT <seconds>])
#       cmocka program test_<name>, registered as ctest <name>; not part of "all", but of the targets "tests" and
#       "tests_<folder>". Its folder's name is one of its labels.
#   wl_tests_need(<target> ...)
#       makes further targets parts of "tests" and "tests_<folder>".
#   wl_fuzzer(<name> SOURCES ... [DEPS ...] [LINK ...])
#       libFuzzer program fuzz_<name>, only with WL_FUZZ=ON (needs clang).

option(WL_WERROR "Treat compiler warnings as errors" ON)
option(WL_FUZZ "Build the fuzzers (clang only)" OFF)
set(WL_SANITIZE "" CACHE STRING "Sanitizers for everything, e.g. address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_C_FLAGS_RELEASE "-O3 -g -DNDEBUG")
if(NOT WL_SANITIZE)
    set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

include(GNUInstallDirs)
include(CMakeParseArguments)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

foreach(pair SQLITE=sqlite3 ZSTD=libzstd LZ4=liblz4 DW=libdw ELF=libelf UNWIND=libunwind
        JANSSON=jansson MICROHTTPD=libmicrohttpd POPT=popt XXHASH=libxxhash Z=zlib)
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 module)
    pkg_check_modules(${name} REQUIRED QUIET IMPORTED_TARGET GLOBAL ${module})
endforeach()
if(BUILD_TESTING)
    pkg_check_modules(CMOCKA REQUIRED QUIET IMPORTED_TARGET GLOBAL cmocka)
endif()

# What goes into an application's process must not meet the application's own copy: link these from their archives
# where there are any, so that collectors can hide them.
foreach(pair ZSTD=libzstd.a LZ4=liblz4.a XXHASH=libxxhash.a)
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 archive)
    find_library(WL_${name}_ARCHIVE ${archive} HINTS ${${name}_LIBRARY_DIRS} ${${name}_LIBDIR})
    mark_as_advanced(WL_${name}_ARCHIVE)
    if(WL_${name}_ARCHIVE)
        set_target_properties(PkgConfig::${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${WL_${name}_ARCHIVE}")
    endif()
endforeach()

# CUDA's compiler is needed by some tests only; empty where there is none.
if(NOT WL_NVCC)
    unset(WL_NVCC CACHE) # look again: the toolkit may have come since
endif()
find_program(WL_NVCC nvcc PATHS "${PROJECT_SOURCE_DIR}/.deps/cuda/bin" DOC "nvcc, for tests that compile CUDA")
if(NOT WL_NVCC)
    set(WL_NVCC "" CACHE FILEPATH "nvcc, for tests that compile CUDA" FORCE)
endif()
if(NOT WL_CUDA_HOME)
    set(wl_cuda_home "")
    if(WL_NVCC)
        get_filename_component(wl_cuda_home "${WL_NVCC}" REALPATH)
        get_filename_component(wl_cuda_home "${wl_cuda_home}/../.." ABSOLUTE)
    endif()
    set(WL_CUDA_HOME "${wl_cuda_home}" CACHE PATH "Root of the CUDA toolkit; may be empty" FORCE)
endif()

set(WL_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
configure_file("${CMAKE_CURRENT_LIST_DIR}/version.h.in" "${WL_GENERATED_DIR}/base/version.h" @ONLY)

# Flags of everything that we compile. Contraction to fma would change results that PTX defines to the bit.
add_library(wl_flags INTERFACE)
target_compile_options(wl_flags INTERFACE
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wvla -Wundef
    -Wpointer-arith -Wformat=2 -Wwrite-strings
    $<$<BOOL:${WL_WERROR}>:-Werror>
    -D_GNU_SOURCE= -fno-plt -ffp-contract=off -fno-math-errno -fno-common)
# These depend on what the optimiser sees, and so on the compiler's version: they warn, and stop no build.
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND WL_WERROR)
    target_compile_options(wl_flags INTERFACE -Wno-error=maybe-uninitialized -Wno-error=stringop-overflow
        -Wno-error=stringop-overread -Wno-error=array-bounds -Wno-error=format-truncation -Wno-error=format-overflow)
endif()
target_include_directories(wl_flags INTERFACE
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include" "${WL_GENERATED_DIR}")
target_link_libraries(wl_flags INTERFACE Threads::Threads)
if(WL_SANITIZE)
    target_compile_options(wl_flags INTERFACE
        -fsanitize=${WL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(wl_flags INTERFACE -fsanitize=${WL_SANITIZE})
endif()
if(WL_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "WL_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
    endif()
    target_compile_options(wl_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_custom_target(tests COMMENT "All test programs")
add_custom_target(fuzzers COMMENT "All fuzzers")
add_custom_target(bench COMMENT "All benchmarks")

function(wl_link_parts target visibility)
    cmake_parse_arguments(PARSE_ARGV 2 A "" "" "DEPS;LINK")
    list(TRANSFORM A_DEPS PREPEND wl_)
    target_link_libraries(${target} ${visibility} ${A_DEPS} ${A_LINK} wl_flags)
endfunction()

function(wl_library folder)
    cmake_parse_arguments(PARSE_ARGV 1 A "" "" "SOURCES;DEPS;LINK")
    if(NOT A_SOURCES)
        add_library(wl_${folder} INTERFACE)
        wl_link_parts(wl_${folder} INTERFACE DEPS ${A_DEPS} LINK ${A_LINK})
        return()
    endif()
    add_library(wl_${folder} STATIC ${A_SOURCES})
    wl_link_parts(wl_${folder} PUBLIC DEPS ${A_DEPS} LINK ${A_LINK})
endfunction()

function(wl_collector name)
    cmake_parse_arguments(PARSE_ARGV 1 A "" "MAP;FOLDER" "SOURCES;DEPS;LINK")
    add_library(${name} SHARED ${A_SOURCES})
    wl_link_parts(${name} PRIVATE DEPS ${A_DEPS} LINK ${A_LINK})
    set_target_properties(${name} PROPERTIES
        OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/warplens/${A_FOLDER}")
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
    if(NOT WL_SANITIZE)
        target_link_options(${name} PRIVATE -Wl,-z,defs)
    endif()
    if(A_MAP)
        get_filename_component(map "${A_MAP}" ABSOLUTE)
        target_link_options(${name} PRIVATE "-Wl,--version-script=${map}")
        set_target_properties(${name} PROPERTIES LINK_DEPENDS "${map}")
    endif()
    install(TARGETS ${name} LIBRARY DESTINATION lib/warplens/${A_FOLDER})
endfunction()

function(wl_tests_need)
    get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
    if(NOT TARGET tests_${folder})
        add_custom_target(tests_${folder} COMMENT "Test programs of ${folder}")
    endif()
    add_dependencies(tests_${folder} ${ARGV})
    add_dependencies(tests ${ARGV})
endfunction()

function(wl_test name)
    cmake_parse_arguments(PARSE_ARGV 1 A "" "TIMEOUT" "SOURCES;DEPS;LINK;LABELS;ARGS")
    if(NOT BUILD_TESTING)
        return()
    endif()
    add_executable(test_${name} EXCLUDE_FROM_ALL ${A_SOURCES})
    wl_link_parts(test_${name} PRIVATE DEPS ${A_DEPS} LINK ${A_LINK} test_support)
    target_compile_definitions(test_${name} PRIVATE
        WL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" WL_BINARY_DIR="${PROJECT_BINARY_DIR}"
        WL_NVCC="${WL_NVCC}" WL_CUDA_HOME="${WL_CUDA_HOME}")
    set_target_properties(test_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    wl_tests_need(test_${name})
    add_test(NAME ${name} COMMAND test_${name} ${A_ARGS})
    if(NOT A_TIMEOUT)
        set(A_TIMEOUT 60)
    endif()
    if(WL_SANITIZE)
        math(EXPR A_TIMEOUT "${A_TIMEOUT} * 5")
    endif()
    get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
    list(PREPEND A_LABELS "${folder}")
    list(REMOVE_DUPLICATES A_LABELS)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}")
endfunction()

function(wl_fuzzer name)
    cmake_parse_arguments(PARSE_ARGV 1 A "" "" "SOURCES;DEPS;LINK")
    if(NOT WL_FUZZ)
        return()
    endif()
    add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${A_SOURCES})
    wl_link_parts(fuzz_${name} PRIVATE DEPS ${A_DEPS} LINK ${A_LINK})
    # libFuzzer has no header for its entry points. Options of sources stand last, behind those of wl_flags.
    set_source_files_properties(${A_SOURCES} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(fuzz_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    add_dependencies(fuzzers fuzz_${name})
endfunction()
