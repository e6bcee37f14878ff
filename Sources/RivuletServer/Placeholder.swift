enum RivuletServerPlaceholder {}
