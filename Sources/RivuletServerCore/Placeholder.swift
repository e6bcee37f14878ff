enum RivuletServerCorePlaceholder {}
