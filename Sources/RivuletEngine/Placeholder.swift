enum RivuletEnginePlaceholder {}
