// swift-tools-version: 6.2
import PackageDescription

/// An app that depends on Rivulet the way any app does: through its library products and their public interface.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Rivulet", path: "../..")],
    targets: [
        .executableTarget(
            name: "consumer",
            dependencies: [
                .product(name: "RivuletWire", package: "Rivulet"),
                .product(name: "RivuletModel", package: "Rivulet"),
                .product(name: "RivuletFlow", package: "Rivulet"),
                .product(name: "RivuletClient", package: "Rivulet"),
                .product(name: "RivuletStore", package: "Rivulet"),
                .product(name: "RivuletEngine", package: "Rivulet"),
                .product(name: "RivuletServer", package: "Rivulet"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ])
    ],
    swiftLanguageModes: [.v6]
)
