# The libraries that stand in for NVIDIA's, in lib/warplens/emulate: libcuda.so.1 and libcudart.so.{11.0,12,13}. They have
# no code of their own but jumps into libwarplens_emulate.so beside them; tools/gen_api.py lists what each exports.
#
#   wl_cuda_fronts()   targets front_cuda, front_cudart11, front_cudart12, front_cudart13; all of them: cuda_fronts

function(wl_cuda_front target soname major lists)
    add_library(${target} MODULE
        "${PROJECT_SOURCE_DIR}/src/inject/front.c" "${PROJECT_SOURCE_DIR}/src/inject/front.S")
    add_dependencies(${target} cuda_front_lists)
    set_property(SOURCE "${PROJECT_SOURCE_DIR}/src/inject/front.c" "${PROJECT_SOURCE_DIR}/src/inject/front.S"
        APPEND PROPERTY OBJECT_DEPENDS "${lists}/stamp")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_compile_definitions(${target} PRIVATE FRONT_LIST="${lists}/${soname}.inc" FRONT_MAJOR=${major})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Werror -D_GNU_SOURCE>)
    target_link_options(${target} PRIVATE
        "-Wl,-soname,${soname}" "-Wl,--version-script=${lists}/${soname}.map" -Wl,-Bsymbolic -Wl,-z,now)
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(${target} PROPERTIES
        PREFIX "" SUFFIX "" OUTPUT_NAME "${soname}" LINK_DEPENDS "${lists}/stamp"
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/warplens/emulate")
    install(TARGETS ${target} LIBRARY DESTINATION lib/warplens/emulate)
    add_dependencies(cuda_fronts ${target})
endfunction()

function(wl_cuda_fronts)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(lists "${PROJECT_BINARY_DIR}/generated/front")
    set(script "${PROJECT_SOURCE_DIR}/tools/gen_api.py")
    add_custom_command(OUTPUT "${lists}/stamp"
        COMMAND Python3::Interpreter "${script}" exports --out "${lists}"
        COMMAND "${CMAKE_COMMAND}" -E touch "${lists}/stamp"
        DEPENDS "${script}" "${PROJECT_SOURCE_DIR}/src/cuda/driver_api.def" "${PROJECT_SOURCE_DIR}/src/cuda/runtime_api.def"
        COMMENT "Listing what NVIDIA's libraries export" VERBATIM)
    add_custom_target(cuda_front_lists DEPENDS "${lists}/stamp")
    add_custom_target(cuda_fronts)
    wl_cuda_front(front_cuda libcuda.so.1 0 "${lists}")
    wl_cuda_front(front_cudart11 libcudart.so.11.0 11 "${lists}")
    wl_cuda_front(front_cudart12 libcudart.so.12 12 "${lists}")
    wl_cuda_front(front_cudart13 libcudart.so.13 13 "${lists}")
endfunction()
