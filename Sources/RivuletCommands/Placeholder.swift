enum RivuletCommandsPlaceholder {}
