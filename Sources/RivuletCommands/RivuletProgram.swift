internal import Foundation
public import RivuletArguments

/// The program `rivulet`: everything but the process around it.
public struct RivuletProgram: Sendable {
    /// The version that `--version` prints.
    public static let version = "0.1.0"

    /// The program's commands and what they take.
    public static let spec = CommandSpec(
        "rivulet", summary: "Chat over a Rivulet server, and look after one.", version: version,
        subcommands: [
            DemoCommand.spec, ChatCommand.spec, SendCommand.spec, TailCommand.spec, HistoryCommand.spec,
            TokenCommand.spec, GroupCommand.spec, RoomCommand.spec, FriendCommand.spec, InspectCommand.spec,
        ])

    private let context: CommandContext

    /// Makes the program for this process.
    public init() {
        self.init(context: .standard())
    }

    init(context: CommandContext) {
        self.context = context
    }

    /// Runs the program.
    ///
    /// - Parameter arguments: The words after the program's name.
    /// - Returns: The exit status: 0 for success, 1 for failure, 2 for wrong use, 130 after Ctrl-C.
    public func run(_ arguments: some Sequence<String>) async -> Int32 {
        do {
            switch Self.spec.parse(arguments, environment: context.environment) {
            case .print(let text):
                try context.console.line(text)
                return ExitStatus.success
            case .refuse(let text):
                context.console.error(text)
                return ExitStatus.usage
            case .run(let arguments):
                return try await run(arguments)
            }
        } catch let error as UsageError {
            context.console.error(error.description)
            return ExitStatus.usage
        } catch is OutputClosed {
            return ExitStatus.outputClosed
        } catch {
            context.console.error("rivulet: \(error)")
            return ExitStatus.failure
        }
    }

    private func run(_ arguments: Arguments) async throws -> Int32 {
        switch arguments.path.dropFirst().first {
        case "demo": try await DemoCommand.run(arguments, context)
        case "chat": try await ChatCommand.run(arguments, context)
        case "send": try await SendCommand.run(arguments, context)
        case "tail": try await TailCommand.run(arguments, context)
        case "history": try await HistoryCommand.run(arguments, context)
        case "inspect": try InspectCommand.run(arguments, context)
        case "token": try await TokenCommand.run(arguments, context)
        case "group": try await GroupCommand.run(arguments, context)
        case "room": try await RoomCommand.run(arguments, context)
        case "friend": try await FriendCommand.run(arguments, context)
        default: ExitStatus.usage
        }
    }
}
