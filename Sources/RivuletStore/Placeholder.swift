enum RivuletStorePlaceholder {}
