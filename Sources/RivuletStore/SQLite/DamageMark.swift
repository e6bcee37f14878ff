import SQLiteKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The word that damage was met in a file while it was used, kept beside it for the next start.
///
/// SQLite opens a file whose inner pages are damaged without complaint, so without the mark every start would end in
/// the same error, and the account with it.
enum DamageMark {
    private static func path(_ file: String) -> String {
        file + ".damaged"
    }

    /// Leaves the mark; where that is not possible, the next use of the damaged page will try again.
    static func put(on file: String) {
        // The path is a string that lives for the call, here and below.
        let descriptor = unsafe open(path(file), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { _ = close(descriptor) }
    }

    static func isOn(_ file: String) -> Bool {
        unsafe access(path(file), F_OK) == 0
    }

    static func remove(from file: String) {
        _ = unsafe unlink(path(file))
    }

    /// Looks whether a marked file is really damaged; an index of the search that is damaged alone is built anew.
    static func settle(_ database: Database, _ file: String) throws {
        guard isOn(file) else { return }
        let findings = try database.integrityCheck(limit: 1)
        guard findings.isEmpty else {
            throw SQLiteError(code: .checkFailed, message: "the file is damaged inside", operation: "open")
        }
        try database.execute("INSERT OR REPLACE INTO meta VALUES ('reindex', 1)")
        remove(from: file)
    }
}
