enum UVKitPlaceholder {}
