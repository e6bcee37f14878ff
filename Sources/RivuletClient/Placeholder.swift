enum RivuletClientPlaceholder {}
