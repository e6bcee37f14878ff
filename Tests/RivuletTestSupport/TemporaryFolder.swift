public import Foundation

/// A folder of its own for one test, removed when the value is released.
public final class TemporaryFolder: Sendable {
    /// Where the folder is.
    public let url: URL

    /// Makes the folder.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "rivulet-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // A test may have removed it already; what stays lies in the system's temporary folder.
        }
    }

    /// The folder's path.
    public var path: String {
        url.path
    }

    /// The path of a file in the folder.
    public func path(of name: String) -> String {
        url.appending(path: name).path
    }
}
