enum SQLiteKitPlaceholder {}
