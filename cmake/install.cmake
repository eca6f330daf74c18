# What `cmake --install` puts where, beyond the collectors (wl_collector installs those). Programs find their data
# relative to the executable: ../lib/warplens (that very name on every system) and ../share/warplens.
if(TARGET warplens)
    install(TARGETS warplens RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/include/warplens")
    install(DIRECTORY include/warplens DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
endif()
file(GLOB wl_man CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/man/*.1")
install(FILES ${wl_man} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/devices")
    install(DIRECTORY devices DESTINATION share/warplens)
    # The build tree has the shape of an installed one.
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/warplens")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/devices" "${PROJECT_BINARY_DIR}/share/warplens/devices" SYMBOLIC)
endif()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
