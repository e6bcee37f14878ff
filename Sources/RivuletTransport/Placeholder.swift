enum RivuletTransportPlaceholder {}
