import Foundation

/// The project's own sources, read as text.
enum SourceTree {
    struct File: Sendable, CustomStringConvertible {
        /// The path below the project's root, such as `Sources/RivuletWire/Packet.swift`.
        let path: String
        let lines: [String]

        var description: String { path }

        /// The target that the file belongs to, such as `RivuletWire`.
        var target: String {
            let parts = path.split(separator: "/")
            return parts.count > 2 ? String(parts[1]) : ""
        }

        /// The modules that the file imports.
        var imports: [String] {
            lines.compactMap { line in
                let words = line.split(separator: " ").filter {
                    ![
                        "public", "package", "internal", "private", "fileprivate", "@testable",
                        "@preconcurrency",
                    ]
                    .contains($0)
                }
                guard words.count >= 2, words[0] == "import" else { return nil }
                return String(words.last?.split(separator: ".").first ?? "")
            }
        }
    }

    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every Swift file below these folders, in a fixed order.
    static func swiftFiles(in folders: [String]) throws -> [File] {
        try files(in: folders) { $0.hasSuffix(".swift") }
    }

    /// Every file below these folders whose name passes, in a fixed order; build folders are left out.
    static func files(in folders: [String], where accepts: (String) -> Bool) throws -> [File] {
        var found: [File] = []
        for folder in folders {
            let base = root.appending(path: folder)
            guard let names = FileManager.default.enumerator(atPath: base.path) else { continue }
            for case let name as String in names where accepts(name) && !name.contains(".build/") {
                let url = base.appending(path: name)
                guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
                    continue
                }
                let text = try String(contentsOf: url, encoding: .utf8)
                found.append(
                    File(
                        path: "\(folder)/\(name)",
                        lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
                )
            }
        }
        return found.sorted { $0.path < $1.path }
    }
}
