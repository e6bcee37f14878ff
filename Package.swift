// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

/// Targets in which every unsafe operation is marked and explained: they touch raw bytes or C.
let strictlyMemorySafe: Set<String> = [
    "RivuletWire", "RivuletStore", "SQLiteKit", "UVKit", "EditLineKit", "HTTPKit", "TLSKit",
]

/// Targets that live on the main actor, as everything that touches GTK must.
let mainActorByDefault: Set<String> = ["GTKKit", "RivuletUI", "rivulet-chat", "rivulet-ui-probe"]

let package = Package(
    name: "Rivulet",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "RivuletWire", targets: ["RivuletWire"]),
        .library(name: "RivuletModel", targets: ["RivuletModel"]),
        .library(name: "RivuletFlow", targets: ["RivuletFlow"]),
        .library(name: "RivuletClient", targets: ["RivuletClientCore", "RivuletClient"]),
        .library(name: "RivuletStore", targets: ["RivuletStore"]),
        .library(name: "RivuletEngine", targets: ["RivuletEngine"]),
        .library(name: "RivuletHTTPEngine", targets: ["RivuletHTTPEngine"]),
        .library(name: "RivuletServer", targets: ["RivuletServerCore", "RivuletServer"]),
        .library(name: "RivuletUI", targets: ["RivuletUI"]),
        .executable(name: "rivulet-chat", targets: ["rivulet-chat"]),
        .executable(name: "rivulet", targets: ["rivulet"]),
        .executable(name: "rivuletd", targets: ["rivuletd"]),
        .executable(name: "rivulet-bench", targets: ["rivulet-bench"]),
        .executable(name: "rivulet-simulate", targets: ["rivulet-simulate"]),
    ],
    targets: [
        // Cores: values driven by events. No socket, disk, clock or display.
        .target(name: "RivuletWire"),
        .target(name: "RivuletModel"),
        .target(name: "RivuletClientCore", dependencies: ["RivuletWire"]),
        .target(name: "RivuletServerCore", dependencies: ["RivuletWire", "RivuletModel"]),
        .target(name: "RivuletFlow", dependencies: ["RivuletModel"]),

        // Wrappers: one per C library, owning its lifetimes.
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]),
        .systemLibrary(
            name: "CEditLine", pkgConfig: "libedit", providers: [.apt(["libedit-dev"]), .brew(["libedit"])]),
        .systemLibrary(
            name: "CGtk", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"]), .brew(["gtk4"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .target(name: "SQLiteKit", dependencies: ["CSQLite"]),
        .target(name: "UVKit", dependencies: ["CUV"]),
        .target(name: "EditLineKit", dependencies: ["CEditLine"]),
        .target(name: "GTKKit", dependencies: ["CGtk"]),
        .target(name: "HTTPKit", dependencies: ["CMicroHTTPD"]),
        .target(name: "TLSKit", dependencies: ["COpenSSL"]),

        // Shells: the cores performed over real sockets and files.
        .target(name: "RivuletTransport", dependencies: ["UVKit", "TLSKit"]),
        .target(
            name: "RivuletClient", dependencies: ["RivuletWire", "RivuletClientCore", "RivuletTransport"]),
        .target(name: "RivuletStore", dependencies: ["RivuletModel", "SQLiteKit"]),
        .target(
            name: "RivuletServer",
            dependencies: [
                "RivuletWire", "RivuletModel", "RivuletServerCore", "RivuletTransport", "UVKit", "SQLiteKit",
                "HTTPKit", "TLSKit",
            ]),

        // Joins.
        .target(
            name: "RivuletEngine",
            dependencies: [
                "RivuletWire", "RivuletModel", "RivuletTransport", "RivuletClientCore", "RivuletClient",
                "RivuletStore", "RivuletFlow",
            ]),

        .target(name: "RivuletUI", dependencies: ["RivuletModel", "RivuletFlow", "GTKKit"]),
        .target(name: "RivuletHTTPEngine", dependencies: ["RivuletModel", "RivuletFlow"]),

        // Programs: argument parsing and wiring, each over a library that does the work.
        .target(name: "RivuletArguments"),
        .target(
            name: "RivuletCommands",
            dependencies: [
                "RivuletWire", "RivuletModel", "RivuletClientCore", "RivuletClient", "RivuletStore",
                "RivuletEngine", "RivuletServer", "RivuletServerCore", "RivuletTransport", "RivuletArguments",
                "EditLineKit", "TLSKit",
            ]),
        .executableTarget(name: "rivulet", dependencies: ["RivuletCommands"]),
        .executableTarget(
            name: "rivulet-chat",
            dependencies: [
                "RivuletWire", "RivuletModel", "RivuletFlow", "RivuletUI", "RivuletEngine", "RivuletClient",
                "RivuletClientCore", "RivuletStore", "RivuletHTTPEngine", "RivuletServer",
                "RivuletServerCore",
                "RivuletArguments",
            ]),
        .executableTarget(name: "rivuletd", dependencies: ["RivuletServer", "RivuletArguments"]),
        .target(
            name: "RivuletSimulation",
            dependencies: [
                "RivuletWire", "RivuletModel", "RivuletClientCore", "RivuletServerCore", "RivuletStore",
                "RivuletEngine",
            ]),
        .executableTarget(
            name: "rivulet-simulate", dependencies: ["RivuletWire", "RivuletSimulation", "RivuletArguments"]),
        .target(name: "CAllocationCounter", path: "Benchmarks/CAllocationCounter"),
        .executableTarget(
            name: "rivulet-bench",
            dependencies: [
                "CAllocationCounter",
                "RivuletWire", "RivuletModel", "RivuletFlow", "RivuletClientCore", "RivuletStore",
                "RivuletEngine", "RivuletServer", "RivuletServerCore", "RivuletSimulation",
                "RivuletArguments", "RivuletTransport", "TLSKit", "UVKit",
            ],
            path: "Benchmarks/rivulet-bench"),

        // Sample sessions: one program each, under Examples/.
        .target(
            name: "ExampleScreen", dependencies: ["RivuletFlow", "RivuletModel"], path: "Examples/Screen"),
        .target(
            name: "ExampleService",
            dependencies: [
                "RivuletClient", "RivuletClientCore", "RivuletEngine", "RivuletModel", "RivuletServer",
                "RivuletServerCore",
            ], path: "Examples/Service"),
        .executableTarget(
            name: "example-private",
            dependencies: [
                "ExampleScreen", "ExampleService", "RivuletEngine", "RivuletFlow", "RivuletModel",
            ], path: "Examples/PrivateChat"),
        .executableTarget(
            name: "example-group",
            dependencies: [
                "ExampleScreen", "ExampleService", "RivuletEngine", "RivuletFlow", "RivuletModel",
                "RivuletServer", "RivuletServerCore",
            ], path: "Examples/GroupChat"),
        .executableTarget(
            name: "example-room",
            dependencies: [
                "ExampleScreen", "ExampleService", "RivuletEngine", "RivuletFlow", "RivuletHTTPEngine",
                "RivuletModel", "RivuletServer",
            ], path: "Examples/ChatRoom"),
        .executableTarget(
            name: "example-customer",
            dependencies: [
                "ExampleScreen", "ExampleService", "RivuletEngine", "RivuletFlow", "RivuletModel",
                "RivuletServerCore",
            ], path: "Examples/CustomerService"),
        .executableTarget(
            name: "example-http",
            dependencies: ["ExampleScreen", "RivuletFlow", "RivuletHTTPEngine", "RivuletModel"],
            path: "Examples/HTTPSession"),
        .executableTarget(
            name: "example-foreign", dependencies: ["ExampleScreen", "RivuletFlow", "RivuletModel"],
            path: "Examples/ForeignSDK"),
        // What the tests and the benchmark of the interface run in a process of its own, since GTK wants the main thread.
        .executableTarget(
            name: "rivulet-ui-probe", dependencies: ["RivuletModel", "RivuletFlow", "RivuletUI"],
            path: "Benchmarks/rivulet-ui-probe"),

        // Examples: message types of an app's own, written with the public interface alone.
        .target(
            name: "ExampleSupport",
            dependencies: [
                "RivuletClient", "RivuletClientCore", "RivuletEngine", "RivuletModel", "RivuletStore",
            ],
            path: "Examples/Support"),
        .executableTarget(
            name: "example-nudge",
            dependencies: ["ExampleSupport", "RivuletEngine", "RivuletModel", "RivuletStore"],
            path: "Examples/Nudge"),
        .executableTarget(
            name: "example-burn",
            dependencies: ["ExampleSupport", "RivuletEngine", "RivuletModel", "RivuletStore"],
            path: "Examples/BurnAfterReading"),
        .executableTarget(
            name: "example-location",
            dependencies: [
                "ExampleSupport", "RivuletClient", "RivuletEngine", "RivuletModel", "RivuletStore",
                "RivuletWire",
            ],
            path: "Examples/RealTimeLocation"),

        // Tests.
        .target(name: "RivuletTestSupport", path: "Tests/RivuletTestSupport"),
        .testTarget(
            name: "RivuletSystemTests",
            dependencies: [
                "RivuletTestSupport", "RivuletWire", "rivulet", "rivuletd", "rivulet-chat",
            ]),
        .testTarget(
            name: "RivuletWireTests", dependencies: ["RivuletWire"], resources: [.copy("Vectors")]),
        .testTarget(name: "RivuletModelTests", dependencies: ["RivuletModel"]),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "RivuletTestSupport", "example-nudge", "example-burn", "example-location", "rivulet",
                "rivuletd",
            ]),
        .testTarget(name: "RivuletFlowTests", dependencies: ["RivuletFlow", "RivuletModel"]),
        .testTarget(name: "RivuletClientCoreTests", dependencies: ["RivuletClientCore", "RivuletWire"]),
        .testTarget(
            name: "RivuletClientTests",
            dependencies: [
                "RivuletClient", "RivuletClientCore", "RivuletTransport", "RivuletWire", "RivuletModel",
                "RivuletServer", "RivuletServerCore", "RivuletTestSupport", "UVKit", "TLSKit",
            ]),
        .testTarget(
            name: "RivuletServerCoreTests",
            dependencies: ["RivuletServerCore", "RivuletWire", "RivuletModel"]),
        .testTarget(
            name: "RivuletServerTests",
            dependencies: [
                "RivuletServer", "RivuletServerCore", "RivuletModel", "RivuletWire", "SQLiteKit",
                "RivuletTestSupport", "UVKit", "CFaultVFS", "rivuletd",
            ]),
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
        .executableTarget(
            name: "store-hammer", dependencies: ["RivuletStore", "RivuletModel"], path: "Tests/StoreHammer"),
        .testTarget(
            name: "RivuletStoreTests",
            dependencies: [
                "RivuletStore", "RivuletModel", "SQLiteKit", "CFaultVFS", "RivuletTestSupport",
                "store-hammer",
            ]),
        .testTarget(
            name: "RivuletEngineTests",
            dependencies: [
                "RivuletEngine", "RivuletClient", "RivuletClientCore", "RivuletStore", "RivuletModel",
                "RivuletWire", "RivuletFlow", "RivuletTransport", "RivuletServer", "RivuletServerCore",
            ]),
        .testTarget(
            name: "SessionExampleTests",
            dependencies: [
                "RivuletTestSupport", "example-private", "example-group", "example-room", "example-customer",
                "example-http", "example-foreign",
            ]),
        .testTarget(
            name: "RivuletHTTPEngineTests",
            dependencies: [
                "RivuletHTTPEngine", "RivuletFlow", "RivuletModel", "RivuletClient", "RivuletClientCore",
                "RivuletEngine", "RivuletServer", "RivuletServerCore", "RivuletStore", "RivuletTestSupport",
                "HTTPKit",
            ]),
        .testTarget(
            name: "RivuletSimulationTests",
            dependencies: [
                "RivuletSimulation", "RivuletStore", "RivuletModel", "CFaultVFS", "RivuletServer",
                "RivuletServerCore", "SQLiteKit",
            ]),
        .testTarget(name: "HTTPKitTests", dependencies: ["HTTPKit"]),
        .testTarget(name: "TLSKitTests", dependencies: ["TLSKit", "RivuletTestSupport"]),
        .testTarget(
            name: "UVKitTests",
            dependencies: ["UVKit", "RivuletTransport", "TLSKit", "RivuletTestSupport"]),
        .testTarget(
            name: "RivuletCommandsTests",
            dependencies: [
                "RivuletCommands", "RivuletArguments", "RivuletModel", "RivuletServer", "RivuletStore",
                "RivuletWire",
                "EditLineKit", "CEditLine", "RivuletTransport", "RivuletTestSupport", "rivulet",
            ],
            exclude: ["Snapshots"]),
        .testTarget(
            name: "RivuletUITests",
            dependencies: [
                "GTKKit", "RivuletArguments", "RivuletModel", "RivuletClient", "RivuletClientCore",
                "RivuletEngine",
                "RivuletFlow",
                "RivuletUI",
                "RivuletStore",
                "RivuletTestSupport",
                "rivulet-chat",
                "rivulet-ui-probe",
            ],
            exclude: ["accessible.py", "accessible-chat.py", "leaks.supp", "valgrind.supp"]),
        .testTarget(name: "TidyTests"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where ![.system, .plugin, .macro, .binary].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
    if strictlyMemorySafe.contains(target.name) {
        target.swiftSettings?.append(.strictMemorySafety())
    }
    if mainActorByDefault.contains(target.name) {
        target.swiftSettings?.append(.defaultIsolation(MainActor.self))
    }
}
