// swift-tools-version: 6.2
import PackageDescription

// A package of its own, since a fuzz target has no `main` until libFuzzer gives it one: a plain build of it does not
// link. Build and run it with `Scripts/fuzz.sh`.
let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Rivulet", path: "..")],
    targets: [
        .executableTarget(
            name: "WireFuzz",
            dependencies: [.product(name: "RivuletWire", package: "Rivulet")],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]),
        .executableTarget(
            name: "ContentFuzz",
            dependencies: [.product(name: "RivuletModel", package: "Rivulet")],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]),
    ],
    swiftLanguageModes: [.v6]
)
