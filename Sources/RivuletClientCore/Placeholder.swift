enum RivuletClientCorePlaceholder {}
