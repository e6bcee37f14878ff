enum RivuletArgumentsPlaceholder {}
