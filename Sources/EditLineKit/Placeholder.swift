enum EditLineKitPlaceholder {}
