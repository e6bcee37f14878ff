internal import RivuletArguments
internal import RivuletWire

/// `rivulet inspect`: what some bytes mean.
enum InspectCommand {
    static let spec = CommandSpec(
        "inspect", summary: "Decode packets and print what they hold.",
        discussion: """
            The exit status is 0 when every frame is good and 1 when one is not.

            Hex text is taken as the bytes themselves; anything else is the path of a file. Write ./cafe for a file \
            whose name looks like hex text.
            """,
        options: [
            Option(
                "--profile", value: "ERA", default: "current", help: "The era of the bytes: seed or current."),
            Option(
                "--role", value: "ROLE", default: "server", help: "Who receives the bytes: server or client."),
            Option("--json", help: "Print one JSON object a frame."),
            Option("--raw", help: "The input is bytes and not hex text."),
        ],
        positionals: [
            Positional("INPUT", help: "Hex text, a file, or '-' for standard input.")
        ])

    private enum Era: String, ArgumentValue {
        case seed, current

        init?(argument: String) { self.init(rawValue: argument) }
        static var argumentDescription: String { "seed or current" }
    }

    private enum Receiver: String, ArgumentValue {
        case server, client

        init?(argument: String) { self.init(rawValue: argument) }
        static var argumentDescription: String { "server or client" }
    }

    static func run(_ arguments: Arguments, _ context: CommandContext) throws -> Int32 {
        let era = try arguments.required("--profile", as: Era.self)
        let receiver = try arguments.required("--role", as: Receiver.self)
        let options = InspectOptions(
            input: arguments.string("INPUT") ?? "-", profile: era == .seed ? .seed : .current,
            role: receiver == .client ? .client : .server, isJSON: arguments.flag("--json"),
            isRaw: arguments.flag("--raw"))
        var isOpen = true
        let status = runInspect(
            options: options,
            output: { line in
                guard isOpen else { return }
                do {
                    try context.console.line(UntrustedText.json(line))
                } catch {
                    isOpen = false
                }
            },
            complaint: { context.console.error("rivulet: \(UntrustedText.line($0))") })
        guard isOpen else { throw OutputClosed() }
        return status
    }
}
