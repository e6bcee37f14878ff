enum RivuletFlowPlaceholder {}
