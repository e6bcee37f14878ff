import Testing

/// Imports point down; nothing points up (ARCHITECTURE.md).
@Suite struct ImportTests {
    /// What each core may import: nothing that reaches a socket, a disk or a clock.
    static let allowed: [String: Set<String>] = [
        "RivuletWire": [],
        "RivuletModel": ["FoundationEssentials", "Foundation"],
        "RivuletClientCore": ["RivuletWire", "FoundationEssentials"],
        "RivuletServerCore": ["RivuletWire", "RivuletModel", "FoundationEssentials"],
        "RivuletFlow": [
            "RivuletModel", "FoundationEssentials", "FoundationInternationalization", "Foundation",
            "Synchronization",
        ],
    ]

    /// The C libraries, each behind one wrapper.
    static let wrapperOfLibrary = [
        "CSQLite": "SQLiteKit", "CUV": "UVKit", "CEditLine": "EditLineKit", "CGtk": "GTKKit",
        "CMicroHTTPD": "HTTPKit", "COpenSSL": "TLSKit",
    ]

    @Test(arguments: allowed.keys.sorted())
    func `a core imports nothing but what its row allows`(core: String) throws {
        let files = try SourceTree.swiftFiles(in: ["Sources/\(core)"])
        #expect(!files.isEmpty)
        for file in files {
            let forbidden = Set(file.imports).subtracting(Self.allowed[core] ?? [])
            #expect(forbidden.isEmpty, "\(file) imports \(forbidden.sorted().joined(separator: ", "))")
        }
    }

    @Test(arguments: allowed.keys.sorted())
    func `a core takes the whole Foundation only where there is no FoundationEssentials`(core: String) throws
    {
        for file in try SourceTree.swiftFiles(in: ["Sources/\(core)"]) {
            for (index, line) in file.lines.enumerated() where line.hasSuffix("import Foundation") {
                let before = file.lines[..<index].suffix(4)
                #expect(
                    before.contains { $0.hasPrefix("#if canImport(Foundation") },
                    "\(file):\(index + 1) imports Foundation without trying FoundationEssentials first")
            }
        }
    }

    @Test
    func `only the GTK folder of the interface imports GTKKit, and everything above it is written once`()
        throws
    {
        let files = try SourceTree.swiftFiles(in: ["Sources", "Benchmarks"])
        #expect(files.contains { $0.path.hasPrefix("Sources/RivuletUI/Platform/GTK/") })
        for file in files where file.imports.contains("GTKKit") {
            #expect(file.path.hasPrefix("Sources/RivuletUI/Platform/GTK/"), "\(file) imports GTKKit")
        }
    }

    @Test func `the interface knows no engine`() throws {
        for file in try SourceTree.swiftFiles(in: ["Sources/RivuletUI"]) {
            let allowed: Set = ["Foundation", "RivuletModel", "RivuletFlow", "GTKKit", "Synchronization"]
            let forbidden = Set(file.imports).subtracting(allowed)
            #expect(forbidden.isEmpty, "\(file) imports \(forbidden.sorted().joined(separator: ", "))")
        }
    }

    @Test func `a C library is imported by its wrapper alone`() throws {
        for file in try SourceTree.swiftFiles(in: ["Sources", "Benchmarks"]) {
            for library in file.imports {
                guard let wrapper = Self.wrapperOfLibrary[library] else { continue }
                #expect(file.path.hasPrefix("Sources/\(wrapper)/"), "\(file) imports \(library)")
            }
        }
    }
}
